"""The commands of `parhelion`: options, and the order of what is done. What is measured, analyzed and shown is in the packages of those names."""
