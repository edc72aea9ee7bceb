"""Choice of kept values by a budget of memory: graph, search, schedule, plan, report."""
