/*
 * Generated from the classes of google-adk 2.13.0 and google-genai 2.34.0 (pydantic's model_fields of Event
 * and of the classes in it). All of them accept both spellings. `citationSources`, the API's own name for
 * `citations`, is accepted only in camelCase.
 */
#include "export/adk_fields.h"

/* clang-format off */
static const struct adk_field PartMediaResolution_fields[] = {
    {"level", ADK_ANY, NULL}, {"numTokens", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model PartMediaResolution_model = {PartMediaResolution_fields, false};

static const struct adk_field CodeExecutionResult_fields[] = {
    {"id", ADK_ANY, NULL}, {"outcome", ADK_ANY, NULL}, {"output", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model CodeExecutionResult_model = {CodeExecutionResult_fields, false};

static const struct adk_field ExecutableCode_fields[] = {
    {"code", ADK_ANY, NULL}, {"id", ADK_ANY, NULL}, {"language", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model ExecutableCode_model = {ExecutableCode_fields, false};

static const struct adk_field FileData_fields[] = {
    {"displayName", ADK_ANY, NULL}, {"fileUri", ADK_ANY, NULL}, {"mimeType", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model FileData_model = {FileData_fields, false};

static const struct adk_field PartialArg_fields[] = {
    {"boolValue", ADK_ANY, NULL}, {"jsonPath", ADK_ANY, NULL}, {"nullValue", ADK_ANY, NULL},
    {"numberValue", ADK_ANY, NULL}, {"stringValue", ADK_ANY, NULL}, {"willContinue", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model PartialArg_model = {PartialArg_fields, false};

static const struct adk_field FunctionCall_fields[] = {
    {"args", ADK_ANY, NULL}, {"id", ADK_ANY, NULL}, {"name", ADK_ANY, NULL},
    {"partialArgs", ADK_LIST, &PartialArg_model}, {"willContinue", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model FunctionCall_model = {FunctionCall_fields, false};

static const struct adk_field FunctionResponseBlob_fields[] = {
    {"data", ADK_ANY, NULL}, {"displayName", ADK_ANY, NULL}, {"mimeType", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model FunctionResponseBlob_model = {FunctionResponseBlob_fields, false};

static const struct adk_field FunctionResponseFileData_fields[] = {
    {"displayName", ADK_ANY, NULL}, {"fileUri", ADK_ANY, NULL}, {"mimeType", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model FunctionResponseFileData_model = {FunctionResponseFileData_fields, false};

static const struct adk_field FunctionResponsePart_fields[] = {
    {"fileData", ADK_ONE, &FunctionResponseFileData_model},
    {"inlineData", ADK_ONE, &FunctionResponseBlob_model}, {"mediaProcessing", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model FunctionResponsePart_model = {FunctionResponsePart_fields, false};

static const struct adk_field FunctionResponse_fields[] = {
    {"id", ADK_ANY, NULL}, {"name", ADK_ANY, NULL}, {"parts", ADK_LIST, &FunctionResponsePart_model},
    {"response", ADK_ANY, NULL}, {"scheduling", ADK_ANY, NULL}, {"willContinue", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model FunctionResponse_model = {FunctionResponse_fields, false};

static const struct adk_field Blob_fields[] = {
    {"data", ADK_ANY, NULL}, {"displayName", ADK_ANY, NULL}, {"mimeType", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model Blob_model = {Blob_fields, false};

static const struct adk_field VideoMetadata_fields[] = {
    {"endOffset", ADK_ANY, NULL}, {"fps", ADK_ANY, NULL}, {"startOffset", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model VideoMetadata_model = {VideoMetadata_fields, false};

static const struct adk_field ToolCall_fields[] = {
    {"args", ADK_ANY, NULL}, {"id", ADK_ANY, NULL}, {"toolType", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model ToolCall_model = {ToolCall_fields, false};

static const struct adk_field ToolResponse_fields[] = {
    {"id", ADK_ANY, NULL}, {"response", ADK_ANY, NULL}, {"toolType", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model ToolResponse_model = {ToolResponse_fields, false};

static const struct adk_field WordInfo_fields[] = {
    {"endOffset", ADK_ANY, NULL}, {"startOffset", ADK_ANY, NULL}, {"word", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model WordInfo_model = {WordInfo_fields, false};

static const struct adk_field Transcription_fields[] = {
    {"endOffset", ADK_ANY, NULL}, {"finished", ADK_ANY, NULL}, {"languageCode", ADK_ANY, NULL},
    {"speakerLabel", ADK_ANY, NULL}, {"startOffset", ADK_ANY, NULL}, {"text", ADK_ANY, NULL},
    {"words", ADK_LIST, &WordInfo_model}, {NULL, ADK_ANY, NULL}};
static const struct adk_model Transcription_model = {Transcription_fields, false};

static const struct adk_field SpeechMetadata_fields[] = {
    {"speaker", ADK_ANY, NULL}, {"style", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model SpeechMetadata_model = {SpeechMetadata_fields, false};

static const struct adk_field Part_fields[] = {
    {"audioTranscription", ADK_ONE, &Transcription_model},
    {"codeExecutionResult", ADK_ONE, &CodeExecutionResult_model},
    {"executableCode", ADK_ONE, &ExecutableCode_model}, {"fileData", ADK_ONE, &FileData_model},
    {"functionCall", ADK_ONE, &FunctionCall_model}, {"functionResponse", ADK_ONE, &FunctionResponse_model},
    {"inlineData", ADK_ONE, &Blob_model}, {"mediaProcessing", ADK_ANY, NULL},
    {"mediaResolution", ADK_ONE, &PartMediaResolution_model}, {"partMetadata", ADK_ANY, NULL},
    {"speechMetadata", ADK_ONE, &SpeechMetadata_model}, {"text", ADK_ANY, NULL}, {"thought", ADK_ANY, NULL},
    {"thoughtSignature", ADK_ANY, NULL}, {"toolCall", ADK_ONE, &ToolCall_model},
    {"toolResponse", ADK_ONE, &ToolResponse_model}, {"videoMetadata", ADK_ONE, &VideoMetadata_model},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model Part_model = {Part_fields, false};

static const struct adk_field Content_fields[] = {
    {"parts", ADK_LIST, &Part_model}, {"role", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model Content_model = {Content_fields, false};

static const struct adk_field GroundingChunkImage_fields[] = {
    {"domain", ADK_ANY, NULL}, {"imageUri", ADK_ANY, NULL}, {"sourceUri", ADK_ANY, NULL},
    {"title", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkImage_model = {GroundingChunkImage_fields, false};

static const struct adk_field GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution_fields[] = {
    {"displayName", ADK_ANY, NULL}, {"photoUri", ADK_ANY, NULL}, {"uri", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution_model = {GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution_fields, false};

static const struct adk_field GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_fields[] = {
    {"authorAttribution", ADK_ONE, &GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution_model},
    {"flagContentUri", ADK_ANY, NULL}, {"googleMapsUri", ADK_ANY, NULL},
    {"relativePublishTimeDescription", ADK_ANY, NULL}, {"review", ADK_ANY, NULL},
    {"reviewId", ADK_ANY, NULL}, {"title", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_model = {GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_fields, false};

static const struct adk_field GroundingChunkMapsPlaceAnswerSources_fields[] = {
    {"flagContentUri", ADK_ANY, NULL},
    {"reviewSnippet", ADK_LIST, &GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_model},
    {"reviewSnippets", ADK_LIST, &GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_model},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkMapsPlaceAnswerSources_model = {GroundingChunkMapsPlaceAnswerSources_fields, false};

static const struct adk_field GroundingChunkMapsRoute_fields[] = {
    {"distanceMeters", ADK_ANY, NULL}, {"duration", ADK_ANY, NULL}, {"encodedPolyline", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkMapsRoute_model = {GroundingChunkMapsRoute_fields, false};

static const struct adk_field GroundingChunkMaps_fields[] = {
    {"placeAnswerSources", ADK_ONE, &GroundingChunkMapsPlaceAnswerSources_model},
    {"placeId", ADK_ANY, NULL}, {"route", ADK_ONE, &GroundingChunkMapsRoute_model}, {"text", ADK_ANY, NULL},
    {"title", ADK_ANY, NULL}, {"uri", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkMaps_model = {GroundingChunkMaps_fields, false};

static const struct adk_field RagChunkPageSpan_fields[] = {
    {"firstPage", ADK_ANY, NULL}, {"lastPage", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model RagChunkPageSpan_model = {RagChunkPageSpan_fields, false};

static const struct adk_field RagChunk_fields[] = {
    {"chunkId", ADK_ANY, NULL}, {"fileId", ADK_ANY, NULL}, {"pageSpan", ADK_ONE, &RagChunkPageSpan_model},
    {"text", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model RagChunk_model = {RagChunk_fields, false};

static const struct adk_field GroundingChunkStringList_fields[] = {
    {"values", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkStringList_model = {GroundingChunkStringList_fields, false};

static const struct adk_field GroundingChunkCustomMetadata_fields[] = {
    {"key", ADK_ANY, NULL}, {"numericValue", ADK_ANY, NULL},
    {"stringListValue", ADK_ONE, &GroundingChunkStringList_model}, {"stringValue", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkCustomMetadata_model = {GroundingChunkCustomMetadata_fields, false};

static const struct adk_field GroundingChunkRetrievedContext_fields[] = {
    {"customMetadata", ADK_LIST, &GroundingChunkCustomMetadata_model}, {"documentName", ADK_ANY, NULL},
    {"fileSearchStore", ADK_ANY, NULL}, {"mediaId", ADK_ANY, NULL}, {"pageNumber", ADK_ANY, NULL},
    {"ragChunk", ADK_ONE, &RagChunk_model}, {"text", ADK_ANY, NULL}, {"title", ADK_ANY, NULL},
    {"uri", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkRetrievedContext_model = {GroundingChunkRetrievedContext_fields, false};

static const struct adk_field GroundingChunkWeb_fields[] = {
    {"domain", ADK_ANY, NULL}, {"title", ADK_ANY, NULL}, {"uri", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunkWeb_model = {GroundingChunkWeb_fields, false};

static const struct adk_field GroundingChunk_fields[] = {
    {"image", ADK_ONE, &GroundingChunkImage_model}, {"maps", ADK_ONE, &GroundingChunkMaps_model},
    {"retrievedContext", ADK_ONE, &GroundingChunkRetrievedContext_model},
    {"web", ADK_ONE, &GroundingChunkWeb_model}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingChunk_model = {GroundingChunk_fields, false};

static const struct adk_field Segment_fields[] = {
    {"endIndex", ADK_ANY, NULL}, {"partIndex", ADK_ANY, NULL}, {"startIndex", ADK_ANY, NULL},
    {"text", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model Segment_model = {Segment_fields, false};

static const struct adk_field GroundingSupport_fields[] = {
    {"confidenceScores", ADK_ANY, NULL}, {"groundingChunkIndices", ADK_ANY, NULL},
    {"renderedParts", ADK_ANY, NULL}, {"segment", ADK_ONE, &Segment_model}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingSupport_model = {GroundingSupport_fields, false};

static const struct adk_field RetrievalMetadata_fields[] = {
    {"googleSearchDynamicRetrievalScore", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model RetrievalMetadata_model = {RetrievalMetadata_fields, false};

static const struct adk_field SearchEntryPoint_fields[] = {
    {"renderedContent", ADK_ANY, NULL}, {"sdkBlob", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model SearchEntryPoint_model = {SearchEntryPoint_fields, false};

static const struct adk_field GroundingMetadataSourceFlaggingUri_fields[] = {
    {"flagContentUri", ADK_ANY, NULL}, {"sourceId", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingMetadataSourceFlaggingUri_model = {GroundingMetadataSourceFlaggingUri_fields, false};

static const struct adk_field GroundingMetadata_fields[] = {
    {"googleMapsWidgetContextToken", ADK_ANY, NULL}, {"groundingChunks", ADK_LIST, &GroundingChunk_model},
    {"groundingSupports", ADK_LIST, &GroundingSupport_model}, {"imageSearchQueries", ADK_ANY, NULL},
    {"retrievalMetadata", ADK_ONE, &RetrievalMetadata_model}, {"retrievalQueries", ADK_ANY, NULL},
    {"searchEntryPoint", ADK_ONE, &SearchEntryPoint_model},
    {"sourceFlaggingUris", ADK_LIST, &GroundingMetadataSourceFlaggingUri_model},
    {"webSearchQueries", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GroundingMetadata_model = {GroundingMetadata_fields, false};

static const struct adk_field ModalityTokenCount_fields[] = {
    {"modality", ADK_ANY, NULL}, {"tokenCount", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model ModalityTokenCount_model = {ModalityTokenCount_fields, false};

static const struct adk_field GenerateContentResponseUsageMetadata_fields[] = {
    {"cacheTokensDetails", ADK_LIST, &ModalityTokenCount_model}, {"cachedContentTokenCount", ADK_ANY, NULL},
    {"candidatesTokenCount", ADK_ANY, NULL},
    {"candidatesTokensDetails", ADK_LIST, &ModalityTokenCount_model}, {"promptTokenCount", ADK_ANY, NULL},
    {"promptTokensDetails", ADK_LIST, &ModalityTokenCount_model}, {"thoughtsTokenCount", ADK_ANY, NULL},
    {"toolUsePromptTokenCount", ADK_ANY, NULL},
    {"toolUsePromptTokensDetails", ADK_LIST, &ModalityTokenCount_model}, {"totalTokenCount", ADK_ANY, NULL},
    {"trafficType", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GenerateContentResponseUsageMetadata_model = {GenerateContentResponseUsageMetadata_fields, false};

static const struct adk_field LiveServerSessionResumptionUpdate_fields[] = {
    {"lastConsumedClientMessageIndex", ADK_ANY, NULL}, {"newHandle", ADK_ANY, NULL},
    {"resumable", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model LiveServerSessionResumptionUpdate_model = {LiveServerSessionResumptionUpdate_fields, false};

static const struct adk_field LiveServerGoAway_fields[] = {
    {"timeLeft", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model LiveServerGoAway_model = {LiveServerGoAway_fields, false};

static const struct adk_field VoiceActivity_fields[] = {
    {"audioOffset", ADK_ANY, NULL}, {"voiceActivityType", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model VoiceActivity_model = {VoiceActivity_fields, false};

static const struct adk_field LogprobsResultCandidate_fields[] = {
    {"logProbability", ADK_ANY, NULL}, {"token", ADK_ANY, NULL}, {"tokenId", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model LogprobsResultCandidate_model = {LogprobsResultCandidate_fields, false};

static const struct adk_field LogprobsResultTopCandidates_fields[] = {
    {"candidates", ADK_LIST, &LogprobsResultCandidate_model}, {NULL, ADK_ANY, NULL}};
static const struct adk_model LogprobsResultTopCandidates_model = {LogprobsResultTopCandidates_fields, false};

static const struct adk_field LogprobsResult_fields[] = {
    {"chosenCandidates", ADK_LIST, &LogprobsResultCandidate_model}, {"logProbabilitySum", ADK_ANY, NULL},
    {"topCandidates", ADK_LIST, &LogprobsResultTopCandidates_model}, {NULL, ADK_ANY, NULL}};
static const struct adk_model LogprobsResult_model = {LogprobsResult_fields, false};

static const struct adk_field CacheMetadata_fields[] = {
    {"cache_name", ADK_ANY, NULL}, {"contents_count", ADK_ANY, NULL}, {"created_at", ADK_ANY, NULL},
    {"expire_time", ADK_ANY, NULL}, {"fingerprint", ADK_ANY, NULL}, {"invocations_used", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model CacheMetadata_model = {CacheMetadata_fields, false};

static const struct adk_field GoogleTypeDate_fields[] = {
    {"day", ADK_ANY, NULL}, {"month", ADK_ANY, NULL}, {"year", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model GoogleTypeDate_model = {GoogleTypeDate_fields, false};

static const struct adk_field Citation_fields[] = {
    {"endIndex", ADK_ANY, NULL}, {"license", ADK_ANY, NULL},
    {"publicationDate", ADK_ONE, &GoogleTypeDate_model}, {"startIndex", ADK_ANY, NULL},
    {"title", ADK_ANY, NULL}, {"uri", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model Citation_model = {Citation_fields, false};

static const struct adk_field CitationMetadata_fields[] = {
    {"citations", ADK_LIST, &Citation_model}, {"citationSources", ADK_LIST, &Citation_model},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model CitationMetadata_model = {CitationMetadata_fields, false};

static const struct adk_field ToolConfirmation_fields[] = {
    {"confirmed", ADK_ANY, NULL}, {"hint", ADK_ANY, NULL}, {"payload", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model ToolConfirmation_model = {ToolConfirmation_fields, false};

static const struct adk_field EventCompaction_fields[] = {
    {"compactedContent", ADK_ONE, &Content_model}, {"endTimestamp", ADK_ANY, NULL},
    {"startTimestamp", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model EventCompaction_model = {EventCompaction_fields, false};

static const struct adk_field UiWidget_fields[] = {
    {"id", ADK_ANY, NULL}, {"payload", ADK_ANY, NULL}, {"provider", ADK_ANY, NULL}, {NULL, ADK_ANY, NULL}};
static const struct adk_model UiWidget_model = {UiWidget_fields, false};

static const struct adk_field EventActions_fields[] = {
    {"agentState", ADK_ANY, NULL}, {"artifactDelta", ADK_ANY, NULL},
    {"compaction", ADK_ONE, &EventCompaction_model}, {"endOfAgent", ADK_ANY, NULL},
    {"escalate", ADK_ANY, NULL}, {"renderUiWidgets", ADK_LIST, &UiWidget_model},
    {"requestedAuthConfigs", ADK_ANY, NULL},
    {"requestedToolConfirmations", ADK_MAP, &ToolConfirmation_model},
    {"rewindBeforeInvocationId", ADK_ANY, NULL}, {"route", ADK_ANY, NULL},
    {"setModelResponse", ADK_ANY, NULL}, {"skipSummarization", ADK_ANY, NULL},
    {"stateDelta", ADK_ANY, NULL}, {"transferReason", ADK_ANY, NULL}, {"transferToAgent", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model EventActions_model = {EventActions_fields, false};

static const struct adk_field NodeInfo_fields[] = {
    {"messageAsOutput", ADK_ANY, NULL}, {"outputFor", ADK_ANY, NULL}, {"path", ADK_ANY, NULL},
    {NULL, ADK_ANY, NULL}};
static const struct adk_model NodeInfo_model = {NodeInfo_fields, true};

static const struct adk_field Event_fields[] = {
    {"actions", ADK_ONE, &EventActions_model}, {"author", ADK_ANY, NULL}, {"avgLogprobs", ADK_ANY, NULL},
    {"branch", ADK_ANY, NULL}, {"cacheMetadata", ADK_ONE, &CacheMetadata_model},
    {"citationMetadata", ADK_ONE, &CitationMetadata_model}, {"content", ADK_ONE, &Content_model},
    {"customMetadata", ADK_ANY, NULL}, {"environmentId", ADK_ANY, NULL}, {"errorCode", ADK_ANY, NULL},
    {"errorMessage", ADK_ANY, NULL}, {"finishReason", ADK_ANY, NULL},
    {"goAway", ADK_ONE, &LiveServerGoAway_model}, {"groundingMetadata", ADK_ONE, &GroundingMetadata_model},
    {"id", ADK_ANY, NULL}, {"inputTranscription", ADK_ONE, &Transcription_model},
    {"interactionId", ADK_ANY, NULL}, {"interactionStatus", ADK_ANY, NULL}, {"interrupted", ADK_ANY, NULL},
    {"invocationId", ADK_ANY, NULL}, {"isolationScope", ADK_ANY, NULL}, {"liveSessionId", ADK_ANY, NULL},
    {"liveSessionResumptionUpdate", ADK_ONE, &LiveServerSessionResumptionUpdate_model},
    {"logprobsResult", ADK_ONE, &LogprobsResult_model}, {"longRunningToolIds", ADK_ANY, NULL},
    {"modelVersion", ADK_ANY, NULL}, {"nodeInfo", ADK_ONE, &NodeInfo_model}, {"output", ADK_ANY, NULL},
    {"outputTranscription", ADK_ONE, &Transcription_model}, {"partial", ADK_ANY, NULL},
    {"timestamp", ADK_ANY, NULL}, {"turnComplete", ADK_ANY, NULL}, {"turnCompleteReason", ADK_ANY, NULL},
    {"usageMetadata", ADK_ONE, &GenerateContentResponseUsageMetadata_model},
    {"voiceActivity", ADK_ONE, &VoiceActivity_model}, {NULL, ADK_ANY, NULL}};

const struct adk_model adk_event_model = {Event_fields, true};
/* clang-format on */

bool adk_is_named(struct json_string name, const char *camel)
{
    char snake[64];
    size_t len = 0;

    if (ses__json_string_is(name, camel))
        return true;
    for (; *camel && len + 3 < sizeof snake; camel++) {
        const bool upper = *camel >= 'A' && *camel <= 'Z';
        if (upper)
            snake[len++] = '_';
        snake[len++] = (char)(upper ? *camel - 'A' + 'a' : *camel);
    }
    snake[len] = '\0';
    return ses__json_string_is(name, snake);
}

const struct adk_field *adk_field_of(const struct adk_model *model, struct json_string name)
{
    for (const struct adk_field *field = model->fields; field->name; field++)
        if (adk_is_named(name, field->name))
            return field;
    return NULL;
}
