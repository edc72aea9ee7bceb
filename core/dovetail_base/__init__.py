"""What everything else stands on: errors, source locations, options, laziness."""
