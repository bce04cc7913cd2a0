"""The one table of settings: name, type, default and a sentence each.

A value comes, in this order, from the command line, the environment (`QIANKA_SERVER_PORT` for
`server.port`), the file `qianka.toml`, or the default; `qianka config show` says from which.
This is the only module that reads the environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from qianka.errors import ConfigError, Language, Text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def _setting(key: str, default: Any, zh: str, en: str) -> Any:
    return field(default=default, metadata={"key": key, "text": Text(zh, en)})


@dataclass(frozen=True)
class Settings:
    """Every setting of the platform; built once in a main function and passed down."""

    data_dir: str = _setting(
        "data.dir", "", "数据目录；空则按系统惯例选", "data directory; empty: the system's usual place"
    )
    database_url: str = _setting(
        "database.url", "", "数据库地址；空则用数据目录里的 SQLite", "database URL; empty: SQLite in the data directory"
    )
    server_host: str = _setting("server.host", "127.0.0.1", "监听地址", "address to listen on")
    server_port: int = _setting("server.port", 8750, "监听端口", "port to listen on")
    server_hosts: str = _setting(
        "server.hosts",
        "",
        "除本机名以外允许的 Host，逗号分隔；* 表示都允许",
        "host names that may be asked for besides this machine's own, by commas; *: any",
    )
    server_processes: int = _setting(
        "server.processes", 0, "几个服务进程；0 为自动（至多 2 个）", "server processes; 0: by the cores, two at most"
    )
    server_public: bool = _setting(
        "server.public", False, "对外服务（必须加密，见 qianka up --public）", "serve other machines, by TLS"
    )
    server_public_url: str = _setting(
        "server.public_url",
        "",
        "别人访问平台用的网址，如 https://ai.example.edu；空则取自请求",
        "the address by which people reach the platform; empty: as asked",
    )
    server_certificate: str = _setting(
        "server.certificate",
        "",
        "TLS 证书链（PEM）；空则自制并显示指纹",
        "TLS certificate chain, PEM; empty: one of our own making, its fingerprint shown",
    )
    server_key: str = _setting("server.key", "", "TLS 私钥（PEM）", "private key of the certificate, PEM")
    server_trusted_proxies: str = _setting(
        "server.trusted_proxies",
        "",
        "前置代理的地址或网段，逗号分隔；只信它们转述的来源地址",
        "addresses or networks of proxies, by commas, whose word on the client's address is taken",
    )
    server_upload_mb: int = _setting("server.upload_mb", 64, "单次上传上限（MB）", "largest upload, MB")
    service_user: str = _setting(
        "service.user", "qianka", "以 root 启动时服务所用的普通用户", "ordinary user that serves when started by root"
    )
    engine_name: str = _setting(
        "engine.name", "local", "在哪里运行任务：local（本机）或 slurm", "where jobs run: local (this machine) or slurm"
    )
    slurm_site: str = _setting(
        "slurm.site",
        "",
        "Slurm 站点文件 site.toml；空则用默认值",
        "the site file of Slurm, site.toml; empty: the defaults",
    )
    slurm_conf: str = _setting(
        "slurm.conf", "", "slurm.conf 的路径；空则用系统的", "path of slurm.conf; empty: the system's"
    )
    slurm_poll: float = _setting(
        "slurm.poll", 5.0, "两次询问 Slurm 之间的秒数", "seconds between two questions to Slurm"
    )
    slurm_group: str = _setting(
        "slurm.group",
        "",
        "只替这个系统用户组里的账户提交任务；空则任何普通账户",
        "only accounts of this Unix group are submitted for; empty: any ordinary account",
    )
    slurm_people: str = _setting(
        "slurm.people",
        "login",
        "自己的任务以谁的身份运行：login（与登录名同名的系统账户）或 service（平台的服务用户，在沙箱里）",
        "as whom people's own jobs run: login (the system account of that name) or service (the platform's, contained)",
    )
    sandbox_backend: str = _setting(
        "sandbox.backend",
        "auto",
        "隔离方式：auto（先 bubblewrap，不行再用容器）、bubblewrap、podman、docker 或 none",
        "how code is contained: auto (bubblewrap, else a container), bubblewrap, podman, docker or none",
    )
    sandbox_image: str = _setting(
        "sandbox.image",
        "",
        "容器镜像；空则用本机 /usr 与学生运行环境（不需要镜像仓库）",
        "image for containers; empty: this machine's /usr and the student runtime (no registry is needed)",
    )
    sandbox_docker_socket: str = _setting(
        "sandbox.docker_socket",
        "",
        "Docker 守护进程的套接字；空则用默认",
        "socket of the Docker daemon; empty: the usual",
    )
    sandbox_minimum: str = _setting(
        "sandbox.minimum",
        "full",
        "学生代码可接受的最低隔离级别：full、degraded 或 none",
        "lowest level at which student code is run: full, degraded or none",
    )
    sandbox_uid_base: int = _setting("sandbox.uid_base", 61000, "运行用 uid 池的起点", "first uid of the pool for runs")
    sandbox_uid_count: int = _setting("sandbox.uid_count", 1000, "运行用 uid 池的大小", "how many uids the pool holds")
    local_cores: int = _setting("local.cores", 0, "可分配的 CPU 核数；0 为全部", "cores to hand out; 0: all")
    local_memory_mb: int = _setting(
        "local.memory_mb", 0, "可分配的内存（MB）；0 为八成", "memory to hand out, MB; 0: 80 %"
    )
    local_simulated_cards: int = _setting("local.simulated_cards", 0, "模拟显卡数", "number of simulated cards")
    local_simulated_model: str = _setting(
        "local.simulated_model", "A100-80G", "模拟显卡型号", "model of simulated cards"
    )
    queue_max_retry: int = _setting("queue.max_retry", 3, "平台故障后的自动重试次数", "retries after a platform fault")
    queue_array_most: int = _setting(
        "queue.array_most", 1000, "一个任务数组至多多少个任务", "jobs of one array, at most"
    )
    queue_half_life_hours: float = _setting(
        "queue.half_life_hours", 24.0, "公平份额用量的半衰期（小时）", "half-life of past use in fair share, hours"
    )
    jobs_keep_days: float = _setting(
        "jobs.keep_days", 30.0, "任务目录在结束后保留的天数", "days for which the directory of an ended job is kept"
    )
    policy_fair_share: bool = _setting("policy.fair_share", True, "按近期用量公平排队", "order the queue by recent use")
    monitor_interval: float = _setting("monitor.interval", 10.0, "监控采样间隔（秒）", "seconds between samples")
    grading_start_share: float = _setting(
        "grading.start_share",
        3.5,
        "训练进程固定启动时间的参考值（秒）",
        "usual fixed start-up of a training process, s",
    )
    quota_person_mb: int = _setting(
        "quota.person_mb", 500, "每人提交的存储配额（MB）", "storage of one person's hand-ins, MB"
    )
    signin_create: bool = _setting(
        "signin.create",
        False,
        "校园账号登录时若名单里没有此人，自动建账户",
        "make an account for who signs in by the campus and is in no roster",
    )
    oidc_issuer: str = _setting("oidc.issuer", "", "OIDC 提供方的地址；空则不用", "issuer of OIDC; empty: not used")
    oidc_client: str = _setting("oidc.client", "", "在提供方登记的 client id", "client id registered there")
    oidc_secret_file: str = _setting(
        "oidc.secret_file", "", "存 client secret 的文件", "file that holds the client secret"
    )
    oidc_scope: str = _setting("oidc.scope", "openid profile", "请求的 scope", "scopes that are asked for")
    oidc_claim: str = _setting(
        "oidc.claim",
        "preferred_username",
        "哪个 claim 是学号或登录名（须由学校分配，不能由用户自己改）",
        "claim that is the student number or login; assigned by the campus, not chosen by the user",
    )
    oidc_title: str = _setting("oidc.title", "", "登录页上的名称", "its name on the sign-in page")
    ldap_url: str = _setting(
        "ldap.url", "", "目录服务，如 ldaps://ldap.example.edu；空则不用", "directory, ldaps://…; empty: not used"
    )
    ldap_base: str = _setting("ldap.base", "", "在哪里找人（DN）", "where people are looked for, a DN")
    ldap_bind: str = _setting("ldap.bind", "", "查找所用的账户（DN）；空则匿名", "DN to look with; empty: anonymous")
    ldap_password_file: str = _setting("ldap.password_file", "", "存该账户密码的文件", "file that holds its password")
    ldap_attribute: str = _setting(
        "ldap.attribute", "uid", "哪个属性是学号或登录名", "attribute that is the student number or login"
    )
    ldap_ca_file: str = _setting("ldap.ca_file", "", "校验目录服务证书的 CA（PEM）", "CA of the directory, PEM")
    ldap_title: str = _setting("ldap.title", "", "登录页上的名称", "its name on the sign-in page")
    cas_url: str = _setting(
        "cas.url", "", "CAS 的地址，如 https://cas.example.edu/cas；空则不用", "address of CAS; empty: not used"
    )
    cas_attribute: str = _setting(
        "cas.attribute", "", "哪个属性是学号或登录名；空则用 CAS 的用户名", "attribute to match; empty: the user name"
    )
    cas_title: str = _setting("cas.title", "", "登录页上的名称", "its name on the sign-in page")
    session_hours: float = _setting("session.hours", 12.0, "网页登录有效期（小时）", "hours a browser session lasts")
    token_days: float = _setting("token.days", 180.0, "命令行令牌有效期（天）", "days a command-line token lasts")
    runtime_dir: str = _setting(
        "runtime.dir",
        "",
        "学生运行环境（venv）；空则在数据目录里",
        "the student runtime, a venv; empty: in the data directory",
    )
    config_dir: str = _setting(
        "config.dir",
        "",
        "命令行的凭据目录；空则按系统惯例选",
        "credentials of the command line; empty: the usual place",
    )
    mirror_torch_cpu: str = _setting(
        "mirror.torch_cpu",
        "https://download.pytorch.org/whl/cpu",
        "无显卡时安装 torch 的索引",
        "package index for torch without a card",
    )
    mirror_torch_cuda: str = _setting(
        "mirror.torch_cuda",
        "",
        "有显卡时安装 torch 的附加索引；空则用默认索引",
        "extra package index for torch with a card; empty: the default index",
    )
    mirror_mnist: str = _setting(
        "mirror.mnist",
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "完整 MNIST 数据的下载地址",
        "where the full MNIST is fetched from",
    )
    language: str = _setting("language", "zh", "默认语言：zh 或 en", "default language: zh or en")


KEYS: dict[str, str] = {f.metadata["key"]: f.name for f in fields(Settings)}


@dataclass(frozen=True)
class Loaded:
    """Settings together with where each value came from."""

    settings: Settings
    sources: Mapping[str, str]


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Loaded:
    """Read all sources.

    Raises ConfigError for an unknown key or a value of the wrong type, naming key and source.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    sources = dict.fromkeys(KEYS, "default")
    if file is None and environment.get("QIANKA_CONFIG"):
        file = Path(environment["QIANKA_CONFIG"])
    if file is not None and file.exists():
        for key, value in _flatten(_read_toml(file)).items():
            _take(values, sources, key, value, str(file))
    for key in KEYS:
        name = "QIANKA_" + key.replace(".", "_").upper()
        if name in environment:
            _take(values, sources, key, environment[name], name)
    for key, value in (overrides or {}).items():
        if value is not None:
            _take(values, sources, key, value, "command line")
    for key, usual in _usual_places(environment, values.get("data_dir")).items():
        if not values.get(KEYS[key]):
            values[KEYS[key]] = str(usual)
            sources[key] = "default"  # also where it was given empty
    return Loaded(Settings(**values), sources)


def check_exposure(found: Settings) -> None:
    """Raises ConfigError where passwords would cross a network in the clear."""
    host = found.server_host
    is_encrypted = found.server_public or bool(found.server_certificate) or bool(found.server_trusted_proxies)
    if is_encrypted or host == "localhost" or host == "::1" or host.startswith("127."):
        return
    raise ConfigError(
        Text(
            f"不加密就不对外监听（{host}）：密码会被别人看到",
            f"{host} is not listened to in the clear: passwords would be seen",
        ),
        Text(
            "用 qianka up --public（自制证书），或给出 server.certificate 和 key；有代理就设 server.trusted_proxies",
            "use qianka up --public (a certificate of our own), or give server.certificate and server.key; "
            "behind a proxy, server.trusted_proxies",
        ),
        reason="in_the_clear",
    )


def default_data_dir(environment: Mapping[str, str] | None = None) -> Path:
    """The system's state directory for root, the user's own data home otherwise."""
    environment = os.environ if environment is None else environment
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/qianka")
    home = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "qianka"


def default_config_dir(environment: Mapping[str, str] | None = None) -> Path:
    """Where the command line keeps what belongs to the person: credentials and known keys."""
    environment = os.environ if environment is None else environment
    home = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "qianka"


def _usual_places(environment: Mapping[str, str], data_dir: str | None) -> dict[str, Path]:
    data = Path(data_dir) if data_dir else default_data_dir(environment)
    return {"data.dir": data, "config.dir": default_config_dir(environment), "runtime.dir": data / "runtime"}


def spoken_language(environment: Mapping[str, str] | None = None) -> Language:
    """The language of this terminal: QIANKA_LANGUAGE, else the locale, else Chinese."""
    environment = os.environ if environment is None else environment
    for name in ("QIANKA_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "").lower()
        if value.startswith(("zh", "en")):
            return "zh" if value.startswith("zh") else "en"
    return "zh"


def with_environment(values: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child process that is to have the settings `values` (by key)."""
    environment = os.environ if environment is None else environment
    given = {"QIANKA_" + key.replace(".", "_").upper(): str(value) for key, value in values.items()}
    return {**environment, **given}


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            Text(f"读不了配置文件 {file}：{error}", f"cannot read the settings file {file}: {error}"),
            Text("按 TOML 语法改好这个文件", "mend the file: it must be TOML"),
        ) from error


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _take(values: dict[str, Any], sources: dict[str, str], key: str, value: Any, source: str) -> None:
    if key not in KEYS:
        known = ", ".join(sorted(KEYS))
        raise ConfigError(
            Text(f"{source}：没有名为 {key} 的设置", f"{source}: there is no setting named {key}"),
            Text(f"可用的设置：{known}", f"the settings are: {known}"),
        )
    name = KEYS[key]
    default = next(f.default for f in fields(Settings) if f.name == name)
    values[name] = _cast(key, value, type(default), source)
    sources[key] = source


def _cast(key: str, value: Any, kind: type, source: str) -> Any:
    try:
        if kind is bool:
            if isinstance(value, bool):
                return value
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[str(value).lower()]
        if isinstance(value, bool):
            raise ValueError(value)
        return kind(value)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            Text(
                f"{source}：{key} 应是 {kind.__name__}，得到 {value!r}",
                f"{source}: {key} must be {kind.__name__}, got {value!r}",
            )
        ) from error
