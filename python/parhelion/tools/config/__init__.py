"""`config`: what compilers need of an installed package."""
