"""Commands of `parhelion`: parse options and call the packages that measure, analyze and show."""
