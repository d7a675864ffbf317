// Ranks and cores of a node, told by the launchers' variables.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/cases.hpp"

#include "core/cores.hpp"

namespace {

// The environment of a pretended launcher, and of none afterwards.
struct Launcher {
    using Variables = std::vector<std::pair<std::string, std::string>>;
    Variables variables;
    explicit Launcher(Variables these) : variables(std::move(these)) {
        for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"}) unsetenv(name);
        for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    }
    ~Launcher() {
        for (const auto& [name, value] : variables) unsetenv(name.c_str());
    }
};

long on_node(const char* tasks, const char* node) {
    const Launcher srun(
        Launcher::Variables{{"SLURM_STEP_TASKS_PER_NODE", tasks}, {"SLURM_NODEID", node}});
    return parhelion::launched_ranks_here();
}

long all_cores() {
    const Launcher none(Launcher::Variables{});
    return parhelion::launched_cores_here();
}

}  // namespace

CASE("srun tells the ranks of each node without being asked for so many per node") {
    EXPECT_EQ(on_node("4", "0"), 4);
    EXPECT_EQ(on_node("2(x3),1", "0"), 2);
    EXPECT_EQ(on_node("2(x3),1", "2"), 2);
    EXPECT_EQ(on_node("2(x3),1", "3"), 1);
    EXPECT_EQ(on_node("5,2(x2),7", "3"), 7);
    for (const char* damaged : {"", "x", "2(x", "(x3)", ",", "2(x3),1"})
        EXPECT_EQ(on_node(damaged, "9"), 0);
}

CASE(
    "what the step has counts for more than what was asked for, and another launcher for more than "
    "Slurm") {
    const Launcher srun(Launcher::Variables{
        {"SLURM_NTASKS_PER_NODE", "8"}, {"SLURM_STEP_TASKS_PER_NODE", "3"}, {"SLURM_NODEID", "0"}});
    EXPECT_EQ(parhelion::launched_ranks_here(), 3);
    const long all = all_cores();
    const Launcher hydra(
        Launcher::Variables{{"MPI_LOCALNRANKS", "5"}, {"SLURM_CPUS_ON_NODE", "1"}});
    EXPECT_EQ(parhelion::launched_ranks_here(), 5);
    EXPECT_EQ(parhelion::launched_cores_here(), all);
}

CASE("cores are those of the step, not of the whole node") {
    {
        const Launcher srun(Launcher::Variables{{"SLURM_CPUS_ON_NODE", "1"}});
        EXPECT_EQ(parhelion::launched_cores_here(), 1);
    }
    const Launcher none(Launcher::Variables{});
    EXPECT_EQ(parhelion::launched_ranks_here(), 0);
    EXPECT_EQ(parhelion::launched_cores_here(), all_cores());
    EXPECT_GT(all_cores(), 0);
}
