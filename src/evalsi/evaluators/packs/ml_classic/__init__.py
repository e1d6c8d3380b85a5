"""Metrics of classifiers, regressors and rankers, as scikit-learn defines them, with intervals and honest gaps."""
