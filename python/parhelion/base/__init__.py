"""Helpers of all modules: checks of arguments, errors raised on all ranks."""
