"""Records of runs, profiles and software images: written once, read back, exported; results of other benchmarks read in."""
