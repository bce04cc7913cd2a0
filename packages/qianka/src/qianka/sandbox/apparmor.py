"""The AppArmor profile that lets bubblewrap make user namespaces on Ubuntu 24.04 and later.

There, kernel.apparmor_restrict_unprivileged_userns=1 leaves namespaces to programs with a profile.
"""

from __future__ import annotations

PROFILE = """\
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,

  include if exists <local/bwrap>
}
"""
PLACE = "/etc/apparmor.d/bwrap"
SWITCH = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
HOW = "qianka doctor --apparmor | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap."
