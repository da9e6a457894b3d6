{{- define "throughline.labels" -}}
app.kubernetes.io/name: throughline
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "throughline.name" -}}
{{- if contains "throughline" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-throughline{{ end }}
{{- end }}

{{- define "throughline.firstKey" -}}
{{- .Values.firstKey.existingSecret | default (printf "%s-first-key" (include "throughline.name" .)) }}
{{- end }}
