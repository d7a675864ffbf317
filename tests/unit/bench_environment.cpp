// The environment variables in a record; tests/python/machine/test_environment.py has the same
// cases.
#include "launch.hpp"

#include <cstdlib>
#include <string>

#include "support/cases.hpp"

using parhelion::bench::known_variables;
using parhelion::bench::smells_of_a_secret;

CASE("known names are recorded, unknown ones and secrets are not") {
  setenv("MPIR_CVAR_DEVICE_COLLECTIVES", "none", 1);
  setenv("MPICH_ALLTOALL_SHORT_MSG_SIZE", "512", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv("UCX_OF_A_LATER_VERSION", "y", 1);
  for (const char* name : {"SLURM_JOB_COMMENT", "MY_NOTE", "MY_UCX_NOTE", "OMP", "LD_PRELOAD_NOTE",
           "OMPI_MCA_orte_hnp_note"})
    setenv(name, "mine", 1);
  for (const char* name : {"MPICH_API_TOKEN", "UCX_PASSWORD", "PMIX_SERVER_URI", "UCX_RC_PKEY"})
    setenv(name, "planted", 1);
  setenv("UCX_LOG_FILE", "https://me:planted@host/x", 1);

  const nlohmann::json found = known_variables();
  EXPECT_EQ(found.at("MPIR_CVAR_DEVICE_COLLECTIVES"), "none");
  EXPECT_EQ(found.at("MPICH_ALLTOALL_SHORT_MSG_SIZE"), "512");
  EXPECT_EQ(found.at("OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(found.at("UCX_OF_A_LATER_VERSION"), "y");
  EXPECT_EQ(found.dump().find("planted"), std::string::npos);
  EXPECT_EQ(found.dump().find("mine"), std::string::npos);
}

CASE("a secret is seen in a name and in a value") {
  for (const char* name : {"A_TOKEN", "my_secret", "PASSWORD", "DB_PASS", "X_AUTH", "CREDENTIALS",
           "PKEY", "SERVER_URI"})
    EXPECT_TRUE(smells_of_a_secret(name, "")) << name;
  for (const char* name : {"AUTHOR", "BYPASS", "OMP_WAIT_POLICY", "UCX_TLS"})
    EXPECT_TRUE(!smells_of_a_secret(name, "")) << name;
  for (const char* value : {"https://me:word@host/x", "tcp://me@host", "password=word",
           "Authorization: word", "x --api-key=word", "bearer wordwordword", "ghp_wordwordword1",
           "AKIAWORDWORDWORDWORD", "eyJhbGciOiJIUzI1NiIsInR5", "-----BEGIN PRIVATE KEY-----"})
    EXPECT_TRUE(smells_of_a_secret("A", value)) << value;
  for (const char* value :
      {"", "passive", "^ucx,ofi", "mlx5_0:1,lo", "/opt/keys/lib:/usr/lib", "tcp://host:80"})
    EXPECT_TRUE(!smells_of_a_secret("A", value)) << value;
}

CASE("a long value takes no deep stack") {
  const std::string path(100000, 'x');
  EXPECT_TRUE(!smells_of_a_secret("LD_LIBRARY_PATH", "://" + path));
  EXPECT_TRUE(!smells_of_a_secret("LD_LIBRARY_PATH", path + "://"));
}
