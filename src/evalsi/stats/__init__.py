"""Statistics: pure functions on arrays. No records, no I/O, no global state; every formula cites its source.

What always holds here: errors and skips were left out before; a value or an interval that does not exist is None with a
reason, never NaN; no interval has zero width; the coverage of each is simulated (docs/reference/statistics.md).
"""

from evalsi.stats.agreement import cohen_kappa, gwet_ac1, observed_agreement
from evalsi.stats.bernstein_sequence import BernsteinSequence
from evalsi.stats.bootstrap import (
    Resampling,
    bootstrap_mean,
    bootstrap_statistic,
    paired_bootstrap,
    resampled_statistic,
)
from evalsi.stats.calibration import (
    Binning,
    ReliabilityRow,
    brier_score,
    expected_calibration_error,
    reliability_table,
)
from evalsi.stats.cluster import ClusterTotals, cluster_robust_t
from evalsi.stats.confidence_sequence import ConfidenceSequence, betting_interval
from evalsi.stats.correlation import pearson, spearman
from evalsi.stats.e_value import anytime_p_value, paired_binary_e_value, paired_binary_log_e_value
from evalsi.stats.improvement import ImprovementPosterior, improvement_posterior
from evalsi.stats.interval import Estimate, Interval
from evalsi.stats.krippendorff_alpha import krippendorff_alpha
from evalsi.stats.mcnemar import mcnemar_exact, mcnemar_mid_p
from evalsi.stats.mean import mean_estimate, t_interval
from evalsi.stats.moments import Moments
from evalsi.stats.multiplicity import benjamini_hochberg, holm
from evalsi.stats.paired import bonett_price, paired_difference, paired_proportions, paired_wald
from evalsi.stats.pass_at_k import PassRate, pass_at_k, pass_hat_k, pass_rate
from evalsi.stats.permutation import paired_permutation
from evalsi.stats.power import (
    Sensitivity,
    detectable_mean,
    detectable_paired_proportion,
    detectable_proportion,
    required_n_mean,
    required_n_paired_proportion,
    required_n_proportion,
    required_n_unchanged,
    t_test_power,
)
from evalsi.stats.proportion import clopper_pearson, proportion_estimate, wilson
from evalsi.stats.quantile import quantile_estimate
from evalsi.stats.shift_evidence import ShiftEvidence
from evalsi.stats.subgroup import SubgroupDifference, skewness_of, subgroup_difference
from evalsi.stats.two_samples import (
    TwoSamples,
    kolmogorov_smirnov,
    proportion_difference,
    stability_index,
    welch_difference,
)
from evalsi.stats.unseen_mass import unseen_mass
from evalsi.stats.variance_components import VarianceComponents, variance_components

__all__ = [
    "BernsteinSequence",
    "Binning",
    "ClusterTotals",
    "ConfidenceSequence",
    "Estimate",
    "ImprovementPosterior",
    "Interval",
    "Moments",
    "PassRate",
    "ReliabilityRow",
    "Resampling",
    "Sensitivity",
    "ShiftEvidence",
    "SubgroupDifference",
    "TwoSamples",
    "VarianceComponents",
    "anytime_p_value",
    "benjamini_hochberg",
    "betting_interval",
    "bonett_price",
    "bootstrap_mean",
    "bootstrap_statistic",
    "brier_score",
    "clopper_pearson",
    "cluster_robust_t",
    "cohen_kappa",
    "detectable_mean",
    "detectable_paired_proportion",
    "detectable_proportion",
    "expected_calibration_error",
    "gwet_ac1",
    "holm",
    "improvement_posterior",
    "kolmogorov_smirnov",
    "krippendorff_alpha",
    "mcnemar_exact",
    "mcnemar_mid_p",
    "mean_estimate",
    "observed_agreement",
    "paired_binary_e_value",
    "paired_binary_log_e_value",
    "paired_bootstrap",
    "paired_difference",
    "paired_permutation",
    "paired_proportions",
    "paired_wald",
    "pass_at_k",
    "pass_hat_k",
    "pass_rate",
    "pearson",
    "proportion_difference",
    "proportion_estimate",
    "quantile_estimate",
    "reliability_table",
    "required_n_mean",
    "required_n_paired_proportion",
    "required_n_proportion",
    "required_n_unchanged",
    "resampled_statistic",
    "skewness_of",
    "spearman",
    "stability_index",
    "subgroup_difference",
    "t_interval",
    "t_test_power",
    "unseen_mass",
    "variance_components",
    "welch_difference",
    "wilson",
]
