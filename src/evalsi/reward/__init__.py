"""The Reward door: rollouts in, composed rewards with their parts out, for a trainer that waits."""
