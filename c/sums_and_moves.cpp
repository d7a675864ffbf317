// Sums of points of a grid that several ranks hold, and owned values from one domain to another.
#include "objects.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace parhelion::c {

void make_sums(const Source& domain, const phl_exchange_options* options, phl_point_sums* sums,
               const std::function<void(std::vector<Field>&, MadeFields&)>& read) {
    std::vector<Field> fields;
    MadeFields made;
    const auto check = [&] {
        require_output(sums, "sums");
        read(fields, made);
    };
    collective(domain.communicator(), "phl_point_sums_create", limit_of(options), check, [&] {
        keep(
            PointSumsObject{
                {*domain.grid(), fields, options_from(options)}, domain, fields, std::move(made)},
            *sums);
    });
}

void run(PointSumsObject& object, bool begin, int reduction, std::span<const Field> fields) {
    const Reduction how = reduction_from(reduction);
    if (begin) object.step.emplace(object.sums.begin(how, fields));
    else object.sums.reduce(how, fields);
}

void move(RedistributionObject& object, bool back, const std::function<std::vector<Move>()>& read) {
    std::vector<Move> moves;
    const auto check = [&] { moves = read(); };
    if (object.called) check();
    else
        collective(object.from.communicator(), "the first call of a redistribution", 0, check,
                   [] {});
    if (back) object.redistribution.back(moves);
    else object.redistribution.forward(moves);
    object.called = true;
}

}  // namespace parhelion::c

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
        move(object, back, [&] {
            std::vector<Move> moves;
            const auto sources = object.from.views(from, count, "from"),
                       targets = object.to.views(to, count, "to");
            for (std::size_t i = 0; i < sources.size(); ++i)
                moves.push_back({sources[i], targets[i]});
            return moves;
        });
    });
}

int call(phl_point_sums sums, bool begin, int reduction, const phl_field* fields, int count) {
    return with(sums, [&](auto& object) {
        run(object, begin, reduction, object.domain.views(fields, count));
    });
}

}  // namespace

extern "C" {

int phl_point_sums_create(phl_cartesian domain, int count, const phl_field* given,
                          const phl_exchange_options* options, phl_point_sums* sums) {
    return guarded([&] {
        const Source source(domain);
        make_sums(source, options, sums, [&](std::vector<Field>& fields, MadeFields&) {
            fields = source.views(given, count);
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
