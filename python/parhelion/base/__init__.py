"""Checks of arguments on one rank, errors raised on all ranks, and other helpers of every module."""
