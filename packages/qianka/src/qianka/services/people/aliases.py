"""Names for the board: two Chinese words that say nothing about the person."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Container

from qianka.errors import BadInput, Text

_FIRST = (
    "安静 白色 北方 草原 沉稳 晨光 赤色 从容 大胆 淡蓝 东海 冬日 飞快 沸腾 峰顶 浮云 高原 古老 好奇 和气 "
    "黑色 湖边 欢快 黄昏 火红 机灵 极光 坚定 江南 金色 静夜 橘色 开朗 宽厚 蓝色 朗月 乐观 凌晨 流动 绿色 "
    "明亮 南山 暖阳 平静 浅紫 轻快 清风 晴空 秋天 热带 认真 日出 沙漠 闪亮 深海 慎重 霜降 踏实 天边 温和 "
    "无声 午后 西岭 细雨 夏夜 香草 向阳 小满 新月 星光 雪白 迅捷 雅致 洋红 野生 银色 远山 早春 直率 专注 紫色 自在"
)
_SECOND = (
    "白鹭 百灵 蝙蝠 苍鹰 长颈鹿 车前草 刺猬 翠鸟 大雁 丹顶鹤 灯塔 蝶鱼 杜鹃 帆船 飞鱼 枫树 凤尾竹 鸽子 海豹 海豚 "
    "海鸥 河马 红杉 蝴蝶 狐狸 画眉 黄鹂 火烈鸟 金丝猴 鲸鱼 孔雀 蓝鲸 灰狼 老虎 羚羊 柳树 梅花鹿 骆驼 落叶松 麻雀 "
    "马蹄莲 猫头鹰 蜜蜂 墨鱼 木棉 鲶鱼 麋鹿 企鹅 蜻蜓 珊瑚 扇贝 山茶 山雀 水獭 水杉 松鼠 蒲公英 天鹅 铁树 兔子 "
    "乌龟 梧桐 犀牛 喜鹊 仙鹤 向日葵 小熊猫 星鱼 雪豹 银杏 萤火虫 鹦鹉 雨燕 鸳鸯 云雀 章鱼 知更鸟 竹子 啄木鸟 棕熊"
)


def new_alias(taken: Container[str], source: random.Random) -> str:
    """An alias that is not in `taken`, such as 晴空白鹭; numbered once the words run out."""
    first, second = _FIRST.split(), _SECOND.split()
    for _ in range(50):
        alias = source.choice(first) + source.choice(second)
        if alias not in taken:
            return alias
    number = 2
    while f"{alias}{number}" in taken:
        number += 1
    return f"{alias}{number}"


def check_alias(text: str) -> str:
    """An alias that a person chose, in normal form; raises BadInput for one that is empty, long or not seen."""
    alias = " ".join(unicodedata.normalize("NFKC", text).split())
    if not 1 <= len(alias) <= 20 or any(unicodedata.category(sign)[0] in "CZ" and sign != " " for sign in alias):
        raise BadInput(
            Text("别名要 1 到 20 个看得见的字", "an alias has 1 to 20 visible characters"),
            Text("换一个", "choose another"),
            reason="bad_alias",
        )
    return alias
