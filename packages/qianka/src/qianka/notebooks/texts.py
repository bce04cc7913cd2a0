"""What is said of a notebook, in Chinese and English: to students (notes), to teachers (mistakes of a master)."""

from __future__ import annotations

from qianka.notebooks.reading import Note, Unreadable

Pair = tuple[str, str]

UNREADABLE: dict[str, Pair] = {
    "missing": ("没有找到 notebook 文件", "the notebook file is not there"),
    "too_big": (
        "notebook 太大（上限 16 MB）：清除全部输出后再保存",
        "too big (16 MB at most): clear all outputs and save",
    ),
    "empty_file": ("notebook 是空文件", "the file is empty"),
    "no_notebook": ("文件不是 notebook", "the file is no notebook"),
    "no_cells": ("notebook 里没有单元", "the notebook holds no cells"),
    "too_many_cells": ("单元太多（上限 2,000）", "too many cells (2,000 at most)"),
    "too_many_values": ("notebook 内容过多：清除全部输出后再保存", "it holds too much: clear all outputs and save"),
    "too_deep": ("notebook 嵌套过深，不是 Jupyter 保存的文件", "nested too deep: Jupyter has not saved this"),
    "not_json": ("notebook 损坏，第 {line} 行不是合法的 JSON", "the notebook is damaged: line {line} is no JSON"),
    "truncated": (
        "notebook 不完整，在第 {line} 行中断：重新下载或保存",
        "cut off at line {line}: save or download it again",
    ),
    "not_utf8": (
        "notebook 第 {line} 行不是 UTF-8：在 Jupyter 里打开并保存",
        "line {line} is not UTF-8: save it in Jupyter",
    ),
    "merge_conflict": ("notebook 第 {line} 行有没解决的 Git 冲突标记", "line {line} holds a Git merge conflict"),
    "language": ("notebook 不是 Python 的（{detail}）", "this is no Python notebook ({detail})"),
    "html": ("这是网页（导出的 HTML？），不是 .ipynb", "this is a web page (exported HTML?), no .ipynb"),
    "lfs": ("这是 Git LFS 的指针，不是文件本身", "this is a pointer of Git LFS, not the file"),
    "python": ("这是 Python 脚本，不是 .ipynb", "this is a Python script, no .ipynb"),
    "zip": ("这是压缩包，不是 .ipynb", "this is an archive, no .ipynb"),
    "pdf": ("这是 PDF，不是 .ipynb", "this is a PDF, no .ipynb"),
    "picture": ("这是图片，不是 .ipynb", "this is a picture, no .ipynb"),
    "other_format": ("文件不是 .ipynb", "this is no .ipynb"),
}
NOTES: dict[str, Pair] = {
    "encoding": ("文件编码是 {detail}，已按它读取", "the file is {detail}; it was read as such"),
    "duplicate_key": ("文件里有重复的 JSON 键，以后一个为准", "keys stand twice in the JSON: the later one counts"),
    "nan": ("文件里有 NaN，已忽略", "the JSON holds NaN: passed over"),
    "no_version": ("没有写明 nbformat 版本", "the nbformat version is missing"),
    "new_version": ("nbformat {detail} 比平台认识的新", "nbformat {detail} is newer than what is known here"),
    "bad_cell": ("第 {cell} 个单元损坏，没有运行", "cell {cell} is damaged and was not run"),
    "cell_too_big": ("第 {cell} 个单元太长，没有运行", "cell {cell} is too long and was not run"),
    "bad_metadata": ("第 {cell} 个单元的元数据损坏", "the metadata of cell {cell} are damaged"),
    "surrogate": ("第 {cell} 个单元有残缺字符，已替换", "cell {cell} holds half characters: replaced"),
    "nul": ("第 {cell} 个单元有 NUL 字符，已去掉", "cell {cell} holds NUL characters: removed"),
    "duplicate": (
        "第 {cell} 个单元是 {detail} 的又一份：按顺序都运行，后面的定义生效",
        "cell {cell} is another copy of {detail}: all run in order, the last definition counts",
    ),
    "split": (
        "{detail} 被拆开，第 {cell} 个单元是其中一部分：按顺序都运行",
        "{detail} was split, cell {cell} is a part of it: all parts run in order",
    ),
    "merged": ("{detail} 的内容合并到了第 {cell} 个单元", "{detail} was merged into cell {cell}"),
    "missing": (
        "缺少单元 {detail}（可能被删除），它的测试照常运行",
        "the cell {detail} is missing; its tests run all the same",
    ),
    "blank": ("第 {cell} 个单元 {detail} 是空的", "cell {cell}, {detail}, is empty"),
    "moved": ("第 {cell} 个单元 {detail} 换了位置", "cell {cell}, {detail}, was moved"),
    "marks_lost": (
        "第 {cell} 个单元丢了标记，按函数名认作 {detail}",
        "cell {cell} lost its marks; taken for {detail} by its functions",
    ),
    "type_changed": (
        "第 {cell} 个单元 {detail} 不再是代码单元，没有运行",
        "cell {cell}, {detail}, is no code cell any more: not run",
    ),
    "test_missing": (
        "测试单元 {detail} 不见了，已用教师的版本",
        "the test cell {detail} is gone: the teacher's was used",
    ),
    "test_changed": (
        "第 {cell} 个单元改动了测试 {detail}：改动无效，用教师的版本",
        "cell {cell} changes the test {detail}: the teacher's was used",
    ),
    "given_missing": (
        "给定的单元 {detail} 不见了，已用教师的版本",
        "the given cell {detail} is gone: the teacher's was used",
    ),
    "given_changed": (
        "第 {cell} 个单元改动了给定的 {detail}：用教师的版本",
        "cell {cell} changes the given {detail}: the teacher's was used",
    ),
    "cell_error": ("第 {cell} 个单元出错：{detail}", "cell {cell} ended with an error: {detail}"),
    "cell_timeout": (
        "第 {cell} 个单元超过 {detail} 秒，被中断",
        "cell {cell} took more than {detail} s and was interrupted",
    ),
    "cell_killed": (
        "第 {cell} 个单元超过 {detail} 秒且不响应中断：内核重启，前面的单元重新运行过",
        "cell {cell} took more than {detail} s and did not stop: the kernel was replaced, earlier cells run again",
    ),
    "cell_died": (
        "第 {cell} 个单元结束了内核进程（{detail}）：内核重启，前面的单元重新运行过",
        "cell {cell} ended the kernel ({detail}): it was replaced, earlier cells run again",
    ),
    "cell_flood": ("第 {cell} 个单元打印过多，被中断", "cell {cell} printed too much and was interrupted"),
    "cell_not_run": ("从第 {cell} 个单元起没有运行：{detail}", "not run from cell {cell} on: {detail}"),
    "lost": (
        "第 {cell} 个单元重新运行没有成功，它定义的变量丢失",
        "cell {cell} could not be run again: its names are lost",
    ),
}
MISTAKES: dict[str, Pair] = {
    "duplicate_key_in_master": (
        "第 {cell} 个单元的 grade_id {detail} 重复",
        "cell {cell}: the grade_id {detail} is not unique",
    ),
    "bad_region": ("第 {cell} 个单元的标记不成对：{detail}", "cell {cell}: markers that do not pair: {detail}"),
    "hidden_outside_test": (
        "第 {cell} 个单元 {detail} 不是测试，却有隐藏测试",
        "cell {cell}, {detail}, is no test but marks hidden tests",
    ),
    "no_tests": (
        "没有测试单元（nbgrader 元数据 grade: true）",
        "there are no test cells (nbgrader metadata grade: true)",
    ),
    "no_points": ("所有测试的分数之和是 0", "all tests together are worth no points"),
    "language": ("不是 Python notebook：{detail}", "no Python notebook: {detail}"),
    "bad_points": (
        "第 {cell} 个单元 {detail} 的分数不是 0 到 10,000 的数",
        "cell {cell}, {detail}: points must be 0 to 10,000",
    ),
    "empty_test": ("第 {cell} 个单元 {detail} 是空的测试", "cell {cell}, {detail}: an empty test"),
    "leaks": (
        "隐藏测试的一行也出现在学生能看到的单元里：{detail}",
        "a line of a hidden test also stands where students see it: {detail}",
    ),
    "public_master": ("学生拿到的 {detail} 里有隐藏测试", "{detail}, which students are given, holds hidden tests"),
}
BEYOND: dict[str, Pair] = {
    "syntax": (
        "不是普通的 Python（{detail}）：魔法命令和 ! 命令不能用",
        "no plain Python ({detail}): magics and ! do not work",
    ),
    "shell": ("用了 IPython 的 {detail}", "uses IPython's {detail}"),
    "names": ("用了 {detail}()，看不到学生的变量表", "uses {detail}(): the student's names cannot be listed"),
    "files": ("用了 {detail}，看不到学生写的文件", "uses {detail}: the student's files are not there"),
    "capture": (
        "用了 {detail}，截不到学生进程的输出，也换不掉它的对象",
        "uses {detail}: it does not reach the student's process",
    ),
    "module": ("用了 {detail}，它的状态在学生的进程里", "uses {detail}, whose state is in the student's process"),
    "await": ("用了 await", "uses await"),
    "given_value": (
        "{detail} 的值来自学生的进程，学生可以改它：把数据写进测试",
        "{detail} comes from the student's process and may be changed: write it into the test",
    ),
}


def of_unreadable(error: Unreadable) -> Pair:
    """Why a file is no notebook, and what to do."""
    code = error.detail if error.code == "other_format" and error.detail in UNREADABLE else error.code
    return _filled(UNREADABLE[code], None, error.detail, error.line)


def of_note(note: Note) -> Pair:
    """A note in words."""
    table = NOTES if note.code in NOTES else MISTAKES
    return _filled(table[note.code], note.cell, note.detail)


def of_beyond(code: str, detail: str) -> Pair:
    """What a test does that our side cannot."""
    return _filled(BEYOND[code], None, detail)


def _filled(pair: Pair, cell: int | None, detail: str, line: int | None = None) -> Pair:
    shown = {"cell": "?" if cell is None else cell, "detail": detail[:160], "line": "?" if line is None else line}
    return pair[0].format(**shown), pair[1].format(**shown)
