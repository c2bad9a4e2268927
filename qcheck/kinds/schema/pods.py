"""Types that many kinds share: object metadata, selectors, pods and everything inside them (Kubernetes 1.36)."""

from __future__ import annotations

TYPES = {
    "Metadata": """
name string
generateName string
namespace string
labels {..} string
annotations {..} string
finalizers [..] string
ownerReferences [..] any
managedFields any
uid string
resourceVersion string
generation int64
creationTimestamp any
deletionTimestamp any
deletionGracePeriodSeconds int64
selfLink string
clusterName string
""",
    "LabelSelector": """
matchLabels {..} string
matchExpressions [..] Requirement
""",
    "Requirement": """
key! string
operator! string
values [..] string
""",
    "Toleration": """
key string
operator string
value string
effect string
tolerationSeconds int64
""",
    "NodeSelectorTerm": """
matchExpressions [..] Requirement
matchFields [..] Requirement
""",
    "PodAffinityTerm": """
labelSelector LabelSelector
namespaceSelector LabelSelector
namespaces [..] string
topologyKey! string
matchLabelKeys [..] string
mismatchLabelKeys [..] string
""",
    "PodAffinity": """
requiredDuringSchedulingIgnoredDuringExecution [..] PodAffinityTerm
preferredDuringSchedulingIgnoredDuringExecution [..]
  weight! int32
  podAffinityTerm! PodAffinityTerm
""",
    "Affinity": """
nodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution
    nodeSelectorTerms! [..] NodeSelectorTerm
  preferredDuringSchedulingIgnoredDuringExecution [..]
    weight! int32
    preference? NodeSelectorTerm
podAffinity PodAffinity
podAntiAffinity PodAffinity
""",
    "Resources": """
limits {..} quantity
requests {..} quantity
claims [..] by:name
  name! string
  request string
""",
    "PodTemplate": """
metadata Metadata
spec PodSpec
""",
    "PodSpec": """
activeDeadlineSeconds int64
affinity Affinity
automountServiceAccountToken bool
containers? [..] by:name Container
dnsConfig
  nameservers [..] string
  options [..]
    name string
    value string
  searches [..] string
dnsPolicy string
enableServiceLinks bool
ephemeralContainers [..] by:name EphemeralContainer
hostAliases [..] by?:ip
  ip! string
  hostnames [..] string
hostIPC bool
hostNetwork bool
hostPID bool
hostUsers bool
hostname string
hostnameOverride string
imagePullSecrets [..] by?:name
  name string =""
initContainers [..] by:name Container
nodeName string
nodeSelector {..} string
os
  name! string
overhead {..} quantity
preemptionPolicy string
priority int32
priorityClassName string
readinessGates [..]
  conditionType! string
resourceClaims [..] by:name
  name! string
  resourceClaimName string
  resourceClaimTemplateName string
resources Resources
restartPolicy string
runtimeClassName string
schedulerName string
schedulingGates [..] by:name
  name! string
schedulingGroup
  podGroupName string
securityContext PodSecurity
serviceAccount string
serviceAccountName string
setHostnameAsFQDN bool
shareProcessNamespace bool
subdomain string
terminationGracePeriodSeconds int64
tolerations [..] Toleration
topologySpreadConstraints [..] by:topologyKey,whenUnsatisfiable
  maxSkew! int32
  topologyKey! string
  whenUnsatisfiable! string
  labelSelector LabelSelector
  matchLabelKeys [..] string
  minDomains int32
  nodeAffinityPolicy string
  nodeTaintsPolicy string
volumes [..] by:name Volume
""",
    "Container": """
name! string
image string
imagePullPolicy string
command [..] string
args [..] string
workingDir string
env [..] by?:name EnvVar
envFrom [..]
  prefix string
  configMapRef Named
  secretRef Named
ports [..] by?:containerPort,protocol
  containerPort! int32
  hostIP string
  hostPort int32
  name string
  protocol string =TCP
resources Resources
resizePolicy [..]
  resourceName! string
  restartPolicy! string
restartPolicy string
restartPolicyRules [..]
  action! string
  exitCodes
    operator! string
    values [..] set int32
securityContext ContainerSecurity
lifecycle
  postStart Handler
  preStop Handler
  stopSignal string
livenessProbe Probe
readinessProbe Probe
startupProbe Probe
stdin bool
stdinOnce bool
tty bool
terminationMessagePath string
terminationMessagePolicy string
volumeDevices [..] by:devicePath
  name! string
  devicePath! string
volumeMounts [..] by:mountPath
  name! string
  mountPath! string
  mountPropagation string
  readOnly bool
  recursiveReadOnly string
  subPath string
  subPathExpr string
""",
    "Named": """
name string =""
optional bool
""",
    "SecretName": """
name string =""
""",
    "KeyOf": """
key! string
name string =""
optional bool
""",
    "FieldRef": """
apiVersion string
fieldPath! string
""",
    "ResourceFieldRef": """
containerName string
divisor quantity
resource! string
""",
    "EnvVar": """
name! string
value string
valueFrom
  configMapKeyRef KeyOf
  secretKeyRef KeyOf
  fieldRef FieldRef
  resourceFieldRef ResourceFieldRef
  fileKeyRef
    key! string
    path! string
    volumeName! string
    optional bool =false
""",
    "HttpGet": """
host string
httpHeaders [..]
  name! string
  value? string
path string
port! int-or-string
scheme string
""",
    "Socket": """
host string
port! int-or-string
""",
    "Handler": """
exec
  command [..] string
httpGet HttpGet
sleep
  seconds! int64
tcpSocket Socket
""",
    "Probe": """
exec
  command [..] string
grpc
  port! int32
  service string =""
httpGet HttpGet
tcpSocket Socket
initialDelaySeconds int32
periodSeconds int32
timeoutSeconds int32
successThreshold int32
failureThreshold int32
terminationGracePeriodSeconds int64
""",
}
TYPES["EphemeralContainer"] = TYPES["Container"] + "targetContainerName string\n"
