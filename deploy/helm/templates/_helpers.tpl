{{/* Pods are called NAME-accounts-0, which is their VOXGATE_NODE_ID: 32 characters at most. */}}
{{- define "voxgate.name" -}}
{{ .Release.Name | trunc 20 | trimSuffix "-" }}
{{- end -}}

{{- define "voxgate.selector" -}}
app.kubernetes.io/name: {{ eq .role "nats" | ternary "voxgate-nats" "voxgate" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "voxgate.labels" -}}
{{ include "voxgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{/* The addresses of the NATS servers, with commas. */}}
{{- define "voxgate.natsUrls" -}}
{{- $name := include "voxgate.name" . -}}
{{- if .Values.nats.enabled -}}
{{- range $index := until 3 -}}
{{ if $index }},{{ end }}tls://{{ $name }}-nats-{{ $index }}.{{ $name }}-nats:4222
{{- end -}}
{{- else -}}
{{ join "," .Values.nats.urls }}
{{- end -}}
{{- end -}}

{{/* No two pods of a role on one machine, and in different zones where there are some. */}}
{{- define "voxgate.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ .hard | ternary .root.Values.spread "ScheduleAnyway" }}
    labelSelector:
      matchLabels: {{- include "voxgate.selector" . | nindent 8 }}
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "voxgate.selector" . | nindent 8 }}
{{- end -}}

{{/* An ordinary user, that of deploy/Containerfile, without any right. */}}
{{- define "voxgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "voxgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* A node of a role, but for its volume `data`: root, role, of (its values), readyPath, env. */}}
{{- define "voxgate.pod" -}}
{{- $values := .root.Values -}}
enableServiceLinks: false
automountServiceAccountToken: false
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext: {{- include "voxgate.podSecurity" . | nindent 2 }}
{{ include "voxgate.spread" (dict "root" .root "role" .role "hard" (eq .role "accounts")) }}
# The hook, the drain, 30 s for the last events of sessions, and closing.
terminationGracePeriodSeconds: {{ add $values.drainSeconds 60 }}
containers:
  - name: voxgate
    image: {{ $values.image.repository }}:{{ $values.image.tag | default .root.Chart.AppVersion }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    ports:
      - name: http
        containerPort: 8080
    env:
      - name: VOXGATE_ROLES
        value: {{ .role }}
      - name: VOXGATE_NATS
        value: {{ include "voxgate.natsUrls" .root }}
      - name: VOXGATE_NATS_CA_FILE
        value: /etc/voxgate/ca.pem
      - name: VOXGATE_NATS_USER
        value: {{ .role }}
      - name: VOXGATE_NATS_PASSWORD
        valueFrom:
          secretKeyRef: { name: {{ $values.secrets.name }}, key: {{ upper .role }}_PASSWORD }
      - name: VOXGATE_NATS_REPLICAS
        value: "3"
      # Pods start in any order.
      - name: VOXGATE_NATS_START_MS
        value: "120000"
      - name: VOXGATE_SESSION_DRAIN_MS
        value: {{ mul $values.drainSeconds 1000 | quote }}
      {{- range $key := list "VOXGATE_SECRET" "VOXGATE_METRICS_TOKEN" }}
      - name: {{ $key }}
        valueFrom:
          secretKeyRef: { name: {{ $values.secrets.name }}, key: {{ $key }} }
      {{- end }}
      {{- with $values.publicUrl }}
      - name: VOXGATE_PUBLIC_URL
        value: {{ . }}
      {{- end }}
      {{- with .env }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- range $key, $value := merge (dict) .of.settings $values.settings }}
      - name: {{ $key }}
        value: {{ $value | toString | quote }}
      {{- end }}
    {{- with eq .role "accounts" | ternary $values.backup.name $values.providerKeys.name }}
    envFrom:
      - secretRef: { name: {{ . }} }
    {{- end }}
    # Load balancers learn that the pod ends, before it refuses new sessions.
    lifecycle:
      preStop:
        exec: { command: [sleep, "5"] }
    # Listens once NATS is there; a node that waits for longer ends, and is started again.
    startupProbe:
      httpGet: { path: /healthz, port: http }
      periodSeconds: 5
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /healthz, port: http }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 3
    readinessProbe:
      httpGet: { path: {{ .readyPath | quote }}, port: http }
      periodSeconds: 5
      timeoutSeconds: 3
      failureThreshold: 2
    resources: {{- toYaml .of.resources | nindent 6 }}
    securityContext: {{- include "voxgate.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - { name: data, mountPath: /data }
      - { name: tmp, mountPath: /tmp }
      - { name: authority, mountPath: /etc/voxgate, readOnly: true }
volumes:
  - name: tmp
    emptyDir: {}
  - name: authority
    secret:
      secretName: {{ $values.nats.secret.name }}
      items: [{ key: ca.pem, path: ca.pem }]
{{- end -}}
