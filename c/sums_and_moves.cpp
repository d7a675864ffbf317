// Sums of points of a grid that several ranks hold, and owned values from one domain to another.
#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

template <class Handle>
int create(Handle from, Handle to, const phl_exchange_options* options,
           phl_redistribution* redistribution) {
    return guarded([&] {
        const auto before = get(from);
        decltype(get(to)) after;
        const auto check = [&] {
            require_output(redistribution, "redistribution");
            try {
                after = get(to);
            } catch (const HandleError& error) {  // all ranks can be told of an Error
                throw Error("the second domain: " + std::string(error.what()));
            }
        };
        collective(Source(from).communicator(), "phl_redistribution_create", limit_of(options),
                   check, [&] {
                       keep(RedistributionObject{{before->domain(), after->domain(),
                                                  options_from(options)},
                                                 Source(from),
                                                 Source(to)},
                            *redistribution);
                   });
    });
}

int call(phl_redistribution redistribution, bool back, const phl_field* from, const phl_field* to,
         int count) {
    return with(redistribution, [&](auto& object) {
        std::vector<Move> moves;
        object.read([&] {
            const auto sources = object.from.views(from, count, "from"),
                       targets = object.to.views(to, count, "to");
            for (std::size_t i = 0; i < sources.size(); ++i)
                moves.push_back({sources[i], targets[i]});
        });
        if (back) object.redistribution.back(moves);
        else object.redistribution.forward(moves);
        object.called = true;
    });
}

int call(phl_point_sums sums, bool begin, int reduction, const phl_field* fields, int count) {
    return with(sums, [&](auto& object) {
        const auto views = object.domain.views(fields, count);
        const Reduction how = reduction_from(reduction);
        if (begin) object.step.emplace(object.sums.begin(how, views));
        else object.sums.reduce(how, views);
    });
}

}  // namespace

extern "C" {

int phl_point_sums_create(phl_cartesian domain, int count, const phl_field* given,
                          const phl_exchange_options* options, phl_point_sums* sums) {
    return guarded([&] {
        const Source source(domain);
        std::vector<Field> fields;
        MadeFields made;
        const auto check = [&] {
            require_output(sums, "sums");
            fields = source.views(given, count);
            for (std::size_t f = 0; f < fields.size(); ++f) made.emplace_back(given[f], fields[f]);
        };
        collective(source.communicator(), "phl_point_sums_create", limit_of(options), check, [&] {
            keep(
                PointSumsObject{
                    {*source.grid(), fields, options_from(options)}, source, std::move(made)},
                *sums);
        });
    });
}
int phl_point_sums_reduce(phl_point_sums sums, int reduction, const phl_field* fields, int count) {
    return call(sums, false, reduction, fields, count);
}
int phl_point_sums_begin(phl_point_sums sums, int reduction, const phl_field* fields, int count) {
    return call(sums, true, reduction, fields, count);
}
int phl_point_sums_end(phl_point_sums sums) {
    return with(sums, [](auto& object) { object.sums.end(); });
}
int phl_point_sums_free(phl_point_sums* sums) { return free_handle(sums, "sums"); }

int phl_redistribution_create_cartesian(phl_cartesian from, phl_cartesian to,
                                        const phl_exchange_options* options,
                                        phl_redistribution* redistribution) {
    return create(from, to, options, redistribution);
}
int phl_redistribution_create_index_map(phl_index_map from, phl_index_map to,
                                        const phl_exchange_options* options,
                                        phl_redistribution* redistribution) {
    return create(from, to, options, redistribution);
}
int phl_redistribution_forward(phl_redistribution redistribution, const phl_field* from,
                               const phl_field* to, int count) {
    return call(redistribution, false, from, to, count);
}
int phl_redistribution_back(phl_redistribution redistribution, const phl_field* from,
                            const phl_field* to, int count) {
    return call(redistribution, true, from, to, count);
}
int phl_redistribution_free(phl_redistribution* redistribution) {
    return free_handle(redistribution, "redistribution");
}

}  // extern "C"
