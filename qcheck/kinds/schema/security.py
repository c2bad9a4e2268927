"""Security contexts of pods and containers (Kubernetes 1.36)."""

from __future__ import annotations

TYPES = {
    "Profile": """
type! string
localhostProfile string
""",
    "SELinux": """
level string
role string
type string
user string
""",
    "Windows": """
gmsaCredentialSpec string
gmsaCredentialSpecName string
hostProcess bool
runAsUserName string
""",
    "ContainerSecurity": """
allowPrivilegeEscalation bool
appArmorProfile Profile
capabilities
  add [..] string
  drop [..] string
privileged bool
procMount string
readOnlyRootFilesystem bool
runAsGroup int64
runAsNonRoot bool
runAsUser int64
seLinuxOptions SELinux
seccompProfile Profile
windowsOptions Windows
""",
    "PodSecurity": """
appArmorProfile Profile
fsGroup int64
fsGroupChangePolicy string
runAsGroup int64
runAsNonRoot bool
runAsUser int64
seLinuxChangePolicy string
seLinuxOptions SELinux
seccompProfile Profile
supplementalGroups [..] int64
supplementalGroupsPolicy string
sysctls [..]
  name! string
  value? string
windowsOptions Windows
""",
}
