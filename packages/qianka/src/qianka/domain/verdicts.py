"""The one table of verdicts: code, sentence, advice, order (the worst cause wins)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(str, Enum):
    """What an attempt ended with."""

    ACCEPTED = "accepted"
    BELOW_LINE = "below_line"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    IMPORT_ERROR = "import_error"
    BAD_ENCODING = "bad_encoding"
    NO_PREDICTIONS = "no_predictions"
    BAD_PREDICTIONS = "bad_predictions"
    OUTPUT_LIMIT = "output_limit"
    DISK_FULL = "disk_full"
    PROCESS_LIMIT = "process_limit"
    INVALID = "invalid"
    SUSPICIOUS = "suspicious"
    INFRA_ERROR = "infra_error"
    CANCELLED = "cancelled"
    NOT_RUN = "not_run"


@dataclass(frozen=True)
class VerdictText:
    """How a verdict is told to a student; `order` 0 is shown first, `charged`: it uses up a try."""

    order: int
    charged: bool
    zh: str
    en: str
    advice_zh: str
    advice_en: str


_V = Verdict
VERDICTS: dict[Verdict, VerdictText] = {
    _V.ACCEPTED: VerdictText(0, True, "通过", "accepted", "做得好。还可以看看各项得分，争取更快、更省内存。",
        "Well done. Look at the single checks: faster and leaner earns more."),
    _V.BELOW_LINE: VerdictText(1, True, "未达标", "below the line", "程序正常跑完，但精度没过线。多训练几轮、调学习率、检查数据是否归一化。",
        "The program ran, but the metric is below the line. Train longer, tune the learning rate, check the normalisation."),
    _V.TIMEOUT: VerdictText(2, True, "超时", "time limit", "超过了时间上限。先用 1 轮、小数据跑通；用张量运算代替 Python 循环；检查有没有死循环。",
        "The time limit was reached. Get one epoch on little data to work, replace Python loops by tensor operations, look for an endless loop."),
    _V.OUT_OF_MEMORY: VerdictText(3, True, "内存超限", "out of memory", "内存超过上限。把 batch_size 减半，配合梯度累积；用完的张量及时 del；评估时用 torch.inference_mode()。",
        "The memory limit was reached. Halve batch_size and accumulate gradients, drop tensors no longer needed, evaluate under torch.inference_mode()."),
    _V.CRASHED: VerdictText(4, True, "运行出错", "crashed", "程序抛出异常退出。在本机用 qianka check 重现，看回溯的最后一行。",
        "The program ended with an exception. Reproduce it with qianka check and read the last line of the traceback."),
    _V.IMPORT_ERROR: VerdictText(5, True, "导入失败", "import failed", "缺少模块或模块名写错。只用实验环境里有的包；自己的模块要放在 code/ 里一起提交。",
        "A module is missing or misspelt. Use only packages of the lab's environment; hand in your own modules inside code/."),
    _V.BAD_ENCODING: VerdictText(6, True, "编码错误", "wrong encoding", "源文件不是 UTF-8。用编辑器另存为 UTF-8，或用 iconv -f GBK -t UTF-8 转换。",
        "A source file is not UTF-8. Save it as UTF-8 in the editor, or convert it: iconv -f GBK -t UTF-8."),
    _V.NO_PREDICTIONS: VerdictText(7, False, "没有预测文件", "no predictions", "程序跑完了，但没有写出预测文件。检查 --out 目录和文件名。",
        "The program ended without writing its predictions. Check the --out folder and the file name."),
    _V.BAD_PREDICTIONS: VerdictText(8, False, "预测文件不合格", "predictions refused", "预测文件的行数、列名或取值不对，按下面列出的第一处错误修改。",
        "The rows, columns or values of the predictions are wrong; mend the first offender named below."),
    _V.OUTPUT_LIMIT: VerdictText(9, True, "输出过多", "too much output", "打印的内容超过上限。去掉循环里的 print，或每 100 步打印一次。",
        "Too much was printed. Remove print from the loop or print every 100 steps."),
    _V.DISK_FULL: VerdictText(10, True, "磁盘写满", "disk full", "写出的文件超过上限。只保存最后一个检查点，不要写数据副本。",
        "More was written than the limit allows. Keep only the last checkpoint and write no copies of the data."),
    _V.PROCESS_LIMIT: VerdictText(11, True, "进程过多", "too many processes", "进程或线程超过上限。把 DataLoader 的 num_workers 调小。",
        "Too many processes or threads. Lower num_workers of the DataLoader."),
    _V.INVALID: VerdictText(12, False, "提交无效", "invalid hand-in", "提交的文件不符合要求，没有评分，也不占次数。按提示修改后再交。",
        "The hand-in breaks a rule; it was not graded and costs no try. Mend it as told and hand in again."),
    _V.SUSPICIOUS: VerdictText(13, True, "存疑", "suspicious", "发现可疑的做法，已交教师复核。", "Something looks wrong; the teacher will review it."),
    _V.INFRA_ERROR: VerdictText(14, False, "平台故障", "platform fault", "这是平台的问题，不扣次数、不计分，会自动重试。",
        "This is the platform's fault: no try, no score; it is retried by itself."),
    _V.CANCELLED: VerdictText(15, False, "已取消", "cancelled", "这次评分在开始前被取消（例如又交了新的一份）。", "This grading was cancelled before it began (a newer hand-in took its place, say)."),
    _V.NOT_RUN: VerdictText(16, False, "未运行", "not run", "当前隔离级别下不运行这份代码。", "Not run at the present isolation level."),
}  # fmt: skip
