"""Volumes of pods, with the drivers that Kubernetes keeps for compatibility."""

from __future__ import annotations

TYPES = {
    "Volume": """
name! string
configMap
  name string =""
  items [..] KeyPath
  defaultMode int32
  optional bool
secret
  secretName string
  items [..] KeyPath
  defaultMode int32
  optional bool
emptyDir
  medium string
  sizeLimit quantity
hostPath
  path! string
  type string
persistentVolumeClaim
  claimName! string
  readOnly bool
projected
  defaultMode int32
  sources [..] Projection
downwardAPI
  defaultMode int32
  items [..] DownwardFile
ephemeral
  volumeClaimTemplate
    metadata Metadata
    spec! ClaimSpec
image
  pullPolicy string
  reference string
csi
  driver! string
  fsType string
  nodePublishSecretRef SecretName
  readOnly bool
  volumeAttributes {..} string
nfs
  path! string
  server! string
  readOnly bool
awsElasticBlockStore
  volumeID! string
  fsType string
  partition int32
  readOnly bool
azureDisk
  diskName! string
  diskURI! string
  cachingMode string
  fsType string =ext4
  kind string
  readOnly bool =false
azureFile
  secretName! string
  shareName! string
  readOnly bool
cephfs
  monitors! [..] string
  path string
  readOnly bool
  secretFile string
  secretRef SecretName
  user string
cinder
  volumeID! string
  fsType string
  readOnly bool
  secretRef SecretName
fc
  fsType string
  lun int32
  readOnly bool
  targetWWNs [..] string
  wwids [..] string
flexVolume
  driver! string
  fsType string
  options {..} string
  readOnly bool
  secretRef SecretName
flocker
  datasetName string
  datasetUUID string
gcePersistentDisk
  pdName! string
  fsType string
  partition int32
  readOnly bool
gitRepo
  repository! string
  directory string
  revision string
glusterfs
  endpoints! string
  path! string
  readOnly bool
iscsi
  targetPortal! string
  iqn! string
  lun! int32
  chapAuthDiscovery bool
  chapAuthSession bool
  fsType string
  initiatorName string
  iscsiInterface string =default
  portals [..] string
  readOnly bool
  secretRef SecretName
photonPersistentDisk
  pdID! string
  fsType string
portworxVolume
  volumeID! string
  fsType string
  readOnly bool
quobyte
  registry! string
  volume! string
  group string
  readOnly bool
  tenant string
  user string
rbd
  image! string
  monitors! [..] string
  fsType string
  keyring string =/etc/ceph/keyring
  pool string =rbd
  readOnly bool
  secretRef SecretName
  user string =admin
scaleIO
  gateway! string
  system! string
  secretRef! SecretName
  fsType string =xfs
  protectionDomain string
  readOnly bool
  sslEnabled bool
  storageMode string =ThinProvisioned
  storagePool string
  volumeName string
storageos
  fsType string
  readOnly bool
  secretRef SecretName
  volumeName string
  volumeNamespace string
vsphereVolume
  volumePath! string
  fsType string
  storagePolicyID string
  storagePolicyName string
""",
    "KeyPath": """
key! string
path! string
mode int32
""",
    "DownwardFile": """
path! string
mode int32
fieldRef FieldRef
resourceFieldRef ResourceFieldRef
""",
    "Projection": """
clusterTrustBundle
  path! string
  name string
  signerName string
  labelSelector LabelSelector
  optional bool
configMap
  name string =""
  items [..] KeyPath
  optional bool
secret
  name string =""
  items [..] KeyPath
  optional bool
downwardAPI
  items [..] DownwardFile
podCertificate
  keyType! string
  signerName! string
  certificateChainPath string
  credentialBundlePath string
  keyPath string
  maxExpirationSeconds int32
  userAnnotations {..} string
serviceAccountToken
  path! string
  audience string
  expirationSeconds int64
""",
    "ClaimSpec": """
accessModes [..] string
dataSource
  apiGroup string
  kind! string
  name! string
dataSourceRef
  apiGroup string
  kind! string
  name! string
  namespace string
resources
  limits {..} quantity
  requests {..} quantity
selector LabelSelector
storageClassName string
volumeAttributesClassName string
volumeMode string
volumeName string
""",
}
