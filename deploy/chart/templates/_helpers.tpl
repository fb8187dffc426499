{{- define "podium.labels" -}}
app.kubernetes.io/name: podium
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "podium.secretVariable" }}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret }}, key: {{ .key }}, optional: {{ .optional | default false }}}}
{{- end }}

{{- define "podium.siteEnvironment" -}}
- {name: PODIUM_SITE_URL, value: {{ printf "https://%s" .Values.host | quote }}}
# Probes and KEDA ask by the pod's or the service's own name.
- {name: PODIUM_ALLOWED_HOSTS, value: {{ printf "%s,localhost,%s-nodes.%s.svc" .Values.host .Release.Name .Release.Namespace | quote }}}
- {name: PODIUM_BEHIND_PROXY, value: "1"}
- {name: PODIUM_BLOB_URL, value: {{ required "blobUrl is needed: pods share no folder" .Values.blobUrl | quote }}}
{{- if .Values.s3Endpoint }}
- {name: AWS_ENDPOINT_URL_S3, value: {{ .Values.s3Endpoint | quote }}}
{{- end }}
{{- range $name, $key := dict "PODIUM_SECRET_KEY" "secret-key" "DATABASE_URL" "database-url" "PODIUM_BROKER_URL" "broker-url" "PODIUM_NODE_BROKER_URL" "node-broker-url" "PODIUM_METRICS_TOKEN" "metrics-token" }}
{{- include "podium.secretVariable" (dict "name" $name "key" $key "secret" $.Values.secret) }}
{{- end }}
{{- range $name, $key := dict "AWS_ACCESS_KEY_ID" "aws-access-key-id" "AWS_SECRET_ACCESS_KEY" "aws-secret-access-key" }}
{{- include "podium.secretVariable" (dict "name" $name "key" $key "secret" $.Values.secret "optional" true) }}
{{- end }}
{{- range $name, $value := .Values.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- define "podium.sitePod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65531
  runAsGroup: 65531
  fsGroup: 65531
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: state, emptyDir: {}}
  - {name: tmp, emptyDir: {}}
{{- end }}

{{- define "podium.siteContainer" -}}
image: {{ .Values.image | quote }}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
volumeMounts:
  - {name: state, mountPath: /var/lib/podium}
  - {name: tmp, mountPath: /tmp}
env:
  {{- include "podium.siteEnvironment" . | nindent 2 }}
{{- end }}
