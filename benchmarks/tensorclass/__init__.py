"""Generated classes against the class that an expert writes by hand, tensordict's classes and a pytree dataclass."""
