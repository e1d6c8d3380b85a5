"""The Watch door: live traffic is completed, sampled, graded by policies, and somebody is told when it gets worse."""
