"""The real exchange under SimGrid's SMPI, on a machine that is only described (`parhelion model simulate`).

The simulated program, in C++, is in the folder `studies/simulation` of the repository; what an exchange should cost is for `model`.
"""
