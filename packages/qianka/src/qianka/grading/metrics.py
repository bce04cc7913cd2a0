"""The table of metrics a lab may name: what they are computed from, their range, which way is better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """`column` is what predictions hold: a `label`, or a `value` (number or probability)."""

    name: str
    column: str
    higher_is_better: bool
    low: float | None
    high: float | None
    zh: str

    def admits(self, score: float) -> bool:
        """Whether a score of this size can be one of this metric at all (NaN never is)."""
        return (self.low is None or score >= self.low) and (self.high is None or score <= self.high)

    def better(self, one: float, other: float) -> bool:
        """Whether `one` beats `other`."""
        return one > other if self.higher_is_better else one < other


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "label", True, 0.0, 1.0, "准确率"),
        Metric("balanced_accuracy", "label", True, 0.0, 1.0, "平衡准确率"),
        Metric("f1_macro", "label", True, 0.0, 1.0, "宏平均 F1"),
        Metric("f1_weighted", "label", True, 0.0, 1.0, "加权 F1"),
        Metric("cohen_kappa", "label", True, -1.0, 1.0, "Kappa 系数"),
        Metric("roc_auc", "value", True, 0.0, 1.0, "AUC"),
        Metric("log_loss", "value", False, 0.0, None, "对数损失"),
        Metric("mean_squared_error", "value", False, 0.0, None, "均方误差"),
        Metric("root_mean_squared_error", "value", False, 0.0, None, "均方根误差"),
        Metric("mean_absolute_error", "value", False, 0.0, None, "平均绝对误差"),
        Metric("r2", "value", True, None, 1.0, "决定系数 R²"),
    )
}
