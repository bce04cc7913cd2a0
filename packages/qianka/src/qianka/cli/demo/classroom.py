"""The demo's cohort: made once, found again at every later start."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from qianka.cli import output
from qianka.cli.demo import people
from qianka.cli.embedded import Handle
from qianka.client import archive
from qianka.client.api import Client
from qianka.client.transport import Transport
from qianka.errors import NotSignedIn, Text

COHORT = "demo"
TEACHER = "teacher"
CPU_HOURS = 2.0
"""a week and person: small, so that the demo's use is visible in it"""


def prepare(platform: Handle, lab: Path, students: int) -> None:
    """Cohort, roster, passwords of the teacher and the first `students`, and the lab, unless they are there."""
    admin = platform.client()
    if COHORT not in [cohort.slug for cohort in admin.cohorts()]:
        output.say(
            Text("建演示班：GB18030 花名册，120 个虚构的人", "making the demo class: 120 made-up people, GB18030")
        )
        admin.create_cohort(
            slug=COHORT, title="演示班（虚构）", zone="Asia/Shanghai", cpu_hours=CPU_HOURS, term="demo", demo=True
        )
    _people(platform, admin, students)
    _lab(admin, lab)


def student(platform: Handle, index: int) -> Client:
    """The client of the `index`-th student, signed in with the demo's password."""
    return _signed_in(platform, people.student_number(index).lower())


def _signed_in(platform: Handle, login: str) -> Client:
    client = Client(Transport(platform.url, None, output.language()))
    token = client.login(login, people.PASSWORD, "demo").token
    client.transport.close()
    return Client(Transport(platform.url, token, output.language()))


def _people(platform: Handle, admin: Client, students: int) -> None:
    file = people.roster()
    preview = admin.preview_roster(COHORT, file, None, None)
    if preview.changes:
        read = f"{preview.encoding}，{preview.rows} 行：{preview.summary}"
        output.say(Text(f"  花名册 {read}", f"  roster {read}"))
        admin.apply_roster(COHORT, file, None, None, preview.digest)
    if TEACHER not in [person.login for person in admin.people(COHORT)]:
        admin.add_person(COHORT, login=TEACHER, name="演示教师", role="teacher")
    for login in [TEACHER, *(people.student_number(index).lower() for index in range(students))]:
        if not _can_sign_in(platform, login):
            # A fresh code, not the roster's: this start may follow one that was cut short.
            admin.activate(login, admin.new_code(login).code, people.PASSWORD)


def _can_sign_in(platform: Handle, login: str) -> bool:
    try:
        _signed_in(platform, login).transport.close()
    except NotSignedIn:
        return False
    return True


def _lab(admin: Client, lab: Path) -> None:
    with TemporaryDirectory(prefix="qianka-") as folder:
        packed = Path(folder) / "lab.zip"
        archive.pack(lab, packed)
        published = admin.publish_lab(COHORT, packed, slug=lab.name)
    output.say(
        Text(
            f"实验已发布：{published.title}（版本 {published.version[:8]}）",
            f"published: {published.title_en or published.title} (version {published.version[:8]})",
        )
    )
