// Sums of points of a grid that several ranks hold.
#include "fields.hpp"
#include "parhelion/core/collective.hpp"

using namespace parhelion;
using namespace parhelion::c;

namespace {

std::vector<Field> views(const Source& domain, const phl_field* fields, int count) {
    std::vector<Field> all;
    require_array(fields, count, "fields");
    for (int f = 0; f < count; ++f) all.push_back(domain.view(fields[f]));
    return all;
}

}  // namespace

extern "C" {

int phl_point_sums_create(phl_cartesian domain, int fields, const phl_field* field, const phl_exchange_options* options,
                          phl_point_sums* sums) {
    return guarded([&] {
        const Source source(domain);
        std::vector<Field> all;
        collectively(source.communicator(), "phl_point_sums_create", options != nullptr ? options->timeout_s : 0, [&] {
            validate_together(source.communicator(), [&] {
                require_output(sums, "sums");
                all = views(source, field, fields);
            });
            keep(PointSumsObject{{*source.grid(), std::move(all), options_from(options)}, source}, *sums);
        });
    });
}

int phl_point_sums_reduce(phl_point_sums sums, int reduction, const phl_field* fields, int count) {
    return with(sums, [&](const auto& object) { object->sums.reduce(reduction_from(reduction), views(object->domain, fields, count)); });
}

int phl_point_sums_begin(phl_point_sums sums, int reduction, const phl_field* fields, int count) {
    return with(sums, [&](const auto& object) { object->sums.begin(reduction_from(reduction), views(object->domain, fields, count)); });
}

int phl_point_sums_end(phl_point_sums sums) {
    return guarded([&] { get(sums)->sums.end(); });
}

int phl_point_sums_free(phl_point_sums* sums) {
    return free_handle(sums, "sums", "these sums are under way: end them before they are freed",
                       [](const PointSumsObject& each) { return each.sums.under_way(); });
}

}  // extern "C"
