#include "datatypes.hpp"
#include "gather/baselines.hpp"
#include "neighborhood.hpp"

namespace parhelion::bench {

namespace {

class GatherAlltoallw : public HandGather {
public:
    GatherAlltoallw(const GatherSetup& setup, IndexLists lists)
        : HandGather(setup, std::move(lists)), cell_(contiguous_bytes(array_->cell_bytes())),
          ones_(lists_.targets.size() + lists_.sources.size() + 1, 1), zeros_(ones_.size(), 0),
          neighborhood_(setup.comm, lists_.sources, lists_.targets) {
        for (std::size_t t = 0; t < lists_.targets.size(); ++t) add_send_type(t);
        for (std::size_t s = 0; s < lists_.sources.size(); ++s) add_ghosts_type(s);
        MPI_Type_free(&cell_);
    }

    void exchange() override {
        MPI_Neighbor_alltoallw(array_->cells(), ones_.data(), zeros_.data(), sent_.data(),
                               array_->ghosts(), ones_.data(), ghosts_at_.data(), received_.data(),
                               neighborhood_.get());
    }

private:
    void add_send_type(std::size_t t) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_create_indexed_block(static_cast<int>(lists_.sent_to(t)), 1,
                                      lists_.cells.data() + lists_.send_offset[t], cell_, &type);
        sent_.add(type);
    }

    void add_ghosts_type(std::size_t s) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(lists_.read_from(s)), cell_, &type);
        received_.add(type);
        ghosts_at_.push_back(static_cast<MPI_Aint>(lists_.ghost_offset[s] * array_->cell_bytes()));
    }

    MPI_Datatype cell_;
    Datatypes sent_, received_;
    std::vector<int> ones_;
    std::vector<MPI_Aint> zeros_, ghosts_at_;
    Neighborhood neighborhood_;
};

}  // namespace

ContenderPointer make_gather_alltoallw(const GatherSetup& setup, SetupTimes& times) {
    return make_of_lists<GatherAlltoallw>(setup, times);
}

}  // namespace parhelion::bench
