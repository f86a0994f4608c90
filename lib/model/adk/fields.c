/*
 * Made by tools/adk/fields.py from the classes of google-adk 2.13.0 and google-genai 2.34.0.
 * All of them accept both spellings of a name. `citationSources` is the API's own name for `citations`.
 */
#include "model/adk/fields.h"

/* clang-format off */
static const struct adk_field adk_PartMediaResolution_fields[] = {
    {"level", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"numTokens", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_PartMediaResolution = {adk_PartMediaResolution_fields, false};

static const struct adk_field adk_CodeExecutionResult_fields[] = {
    {"id", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"outcome", ADK_WORD, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"output", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_CodeExecutionResult = {adk_CodeExecutionResult_fields, false};

static const struct adk_field adk_ExecutableCode_fields[] = {
    {"code", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"id", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"language", ADK_WORD, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_ExecutableCode = {adk_ExecutableCode_fields, false};

static const struct adk_field adk_FileData_fields[] = {
    {"displayName", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"fileUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"mimeType", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_FileData = {adk_FileData_fields, false};

static const struct adk_field adk_PartialArg_fields[] = {
    {"boolValue", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"jsonPath", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"nullValue", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"numberValue", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"stringValue", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"willContinue", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_PartialArg = {adk_PartialArg_fields, false};

static const struct adk_field adk_FunctionCall_fields[] = {
    {"args", ADK_JSON, ADK_ONE, ADK_NULL, ADK_ARGUMENTS, NULL},
    {"id", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"name", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"partialArgs", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_DROP, &adk_PartialArg},
    {"willContinue", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_FunctionCall = {adk_FunctionCall_fields, false};

static const struct adk_field adk_FunctionResponseBlob_fields[] = {
    {"data", ADK_BYTES, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"displayName", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"mimeType", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_FunctionResponseBlob = {adk_FunctionResponseBlob_fields, false};

static const struct adk_field adk_FunctionResponseFileData_fields[] = {
    {"displayName", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"fileUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"mimeType", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_FunctionResponseFileData = {adk_FunctionResponseFileData_fields, false};

static const struct adk_field adk_FunctionResponsePart_fields[] = {
    {"fileData", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_FunctionResponseFileData},
    {"inlineData", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_FunctionResponseBlob},
    {"mediaProcessing", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_FunctionResponsePart = {adk_FunctionResponsePart_fields, false};

static const struct adk_field adk_FunctionResponse_fields[] = {
    {"id", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"name", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"parts", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_DROP, &adk_FunctionResponsePart},
    {"response", ADK_JSON, ADK_ONE, ADK_NULL, ADK_ARGUMENTS, NULL},
    {"scheduling", ADK_WORD, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"willContinue", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_FunctionResponse = {adk_FunctionResponse_fields, false};

static const struct adk_field adk_Blob_fields[] = {
    {"data", ADK_BYTES, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"displayName", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"mimeType", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Blob = {adk_Blob_fields, false};

static const struct adk_field adk_VideoMetadata_fields[] = {
    {"endOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"fps", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"startOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_VideoMetadata = {adk_VideoMetadata_fields, false};

static const struct adk_field adk_ToolCall_fields[] = {
    {"args", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"id", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"toolType", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_ToolCall = {adk_ToolCall_fields, false};

static const struct adk_field adk_ToolResponse_fields[] = {
    {"id", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"response", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"toolType", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_ToolResponse = {adk_ToolResponse_fields, false};

static const struct adk_field adk_WordInfo_fields[] = {
    {"endOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"startOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"word", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_WordInfo = {adk_WordInfo_fields, false};

static const struct adk_field adk_Transcription_fields[] = {
    {"endOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"finished", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"languageCode", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"speakerLabel", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"startOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"text", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"words", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_WordInfo},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Transcription = {adk_Transcription_fields, false};

static const struct adk_field adk_SpeechMetadata_fields[] = {
    {"speaker", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"style", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_SpeechMetadata = {adk_SpeechMetadata_fields, false};

static const struct adk_field adk_Part_fields[] = {
    {"audioTranscription", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_Transcription},
    {"codeExecutionResult", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_WALK, &adk_CodeExecutionResult},
    {"executableCode", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_WALK, &adk_ExecutableCode},
    {"fileData", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_FileData},
    {"functionCall", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_WALK, &adk_FunctionCall},
    {"functionResponse", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_WALK, &adk_FunctionResponse},
    {"inlineData", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_Blob},
    {"mediaProcessing", ADK_WORD, ADK_ONE, ADK_NULL, ADK_DROP, NULL},
    {"mediaResolution", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_PartMediaResolution},
    {"partMetadata", ADK_JSON, ADK_ONE, ADK_NULL, ADK_DROP, NULL},
    {"speechMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_SpeechMetadata},
    {"text", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"thought", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"thoughtSignature", ADK_BYTES, ADK_ONE, ADK_NULL, ADK_DROP, NULL},
    {"toolCall", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_ToolCall},
    {"toolResponse", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_ToolResponse},
    {"videoMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_DROP, &adk_VideoMetadata},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Part = {adk_Part_fields, false};

static const struct adk_field adk_Content_fields[] = {
    {"parts", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_PARTS, &adk_Part},
    {"role", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Content = {adk_Content_fields, false};

static const struct adk_field adk_GroundingChunkImage_fields[] = {
    {"domain", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"imageUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"sourceUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"title", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkImage = {adk_GroundingChunkImage_fields, false};

static const struct adk_field adk_GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution_fields[] = {
    {"displayName", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"photoUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"uri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution = {adk_GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution_fields, false};

static const struct adk_field adk_GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_fields[] = {
    {"authorAttribution", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution},
    {"flagContentUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"googleMapsUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"relativePublishTimeDescription", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"review", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"reviewId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"title", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkMapsPlaceAnswerSourcesReviewSnippet = {adk_GroundingChunkMapsPlaceAnswerSourcesReviewSnippet_fields, false};

static const struct adk_field adk_GroundingChunkMapsPlaceAnswerSources_fields[] = {
    {"flagContentUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"reviewSnippet", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkMapsPlaceAnswerSourcesReviewSnippet},
    {"reviewSnippets", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkMapsPlaceAnswerSourcesReviewSnippet},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkMapsPlaceAnswerSources = {adk_GroundingChunkMapsPlaceAnswerSources_fields, false};

static const struct adk_field adk_GroundingChunkMapsRoute_fields[] = {
    {"distanceMeters", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"duration", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"encodedPolyline", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkMapsRoute = {adk_GroundingChunkMapsRoute_fields, false};

static const struct adk_field adk_GroundingChunkMaps_fields[] = {
    {"placeAnswerSources", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkMapsPlaceAnswerSources},
    {"placeId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"route", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkMapsRoute},
    {"text", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"title", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"uri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkMaps = {adk_GroundingChunkMaps_fields, false};

static const struct adk_field adk_RagChunkPageSpan_fields[] = {
    {"firstPage", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"lastPage", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_RagChunkPageSpan = {adk_RagChunkPageSpan_fields, false};

static const struct adk_field adk_RagChunk_fields[] = {
    {"chunkId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"fileId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"pageSpan", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_RagChunkPageSpan},
    {"text", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_RagChunk = {adk_RagChunk_fields, false};

static const struct adk_field adk_GroundingChunkStringList_fields[] = {
    {"values", ADK_TEXT, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkStringList = {adk_GroundingChunkStringList_fields, false};

static const struct adk_field adk_GroundingChunkCustomMetadata_fields[] = {
    {"key", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"numericValue", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"stringListValue", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkStringList},
    {"stringValue", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkCustomMetadata = {adk_GroundingChunkCustomMetadata_fields, false};

static const struct adk_field adk_GroundingChunkRetrievedContext_fields[] = {
    {"customMetadata", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkCustomMetadata},
    {"documentName", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"fileSearchStore", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"mediaId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"pageNumber", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"ragChunk", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_RagChunk},
    {"text", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"title", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"uri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkRetrievedContext = {adk_GroundingChunkRetrievedContext_fields, false};

static const struct adk_field adk_GroundingChunkWeb_fields[] = {
    {"domain", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"title", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"uri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunkWeb = {adk_GroundingChunkWeb_fields, false};

static const struct adk_field adk_GroundingChunk_fields[] = {
    {"image", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkImage},
    {"maps", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkMaps},
    {"retrievedContext", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkRetrievedContext},
    {"web", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunkWeb},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingChunk = {adk_GroundingChunk_fields, false};

static const struct adk_field adk_Segment_fields[] = {
    {"endIndex", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"partIndex", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"startIndex", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"text", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Segment = {adk_Segment_fields, false};

static const struct adk_field adk_GroundingSupport_fields[] = {
    {"confidenceScores", ADK_NUMBER, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {"groundingChunkIndices", ADK_NUMBER, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {"renderedParts", ADK_NUMBER, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {"segment", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_Segment},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingSupport = {adk_GroundingSupport_fields, false};

static const struct adk_field adk_RetrievalMetadata_fields[] = {
    {"googleSearchDynamicRetrievalScore", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_RetrievalMetadata = {adk_RetrievalMetadata_fields, false};

static const struct adk_field adk_SearchEntryPoint_fields[] = {
    {"renderedContent", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"sdkBlob", ADK_BYTES, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_SearchEntryPoint = {adk_SearchEntryPoint_fields, false};

static const struct adk_field adk_GroundingMetadataSourceFlaggingUri_fields[] = {
    {"flagContentUri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"sourceId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingMetadataSourceFlaggingUri = {adk_GroundingMetadataSourceFlaggingUri_fields, false};

static const struct adk_field adk_GroundingMetadata_fields[] = {
    {"googleMapsWidgetContextToken", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"groundingChunks", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_GroundingChunk},
    {"groundingSupports", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_GroundingSupport},
    {"imageSearchQueries", ADK_TEXT, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {"retrievalMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_RetrievalMetadata},
    {"retrievalQueries", ADK_TEXT, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {"searchEntryPoint", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_SearchEntryPoint},
    {"sourceFlaggingUris", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_GroundingMetadataSourceFlaggingUri},
    {"webSearchQueries", ADK_TEXT, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GroundingMetadata = {adk_GroundingMetadata_fields, false};

static const struct adk_field adk_ModalityTokenCount_fields[] = {
    {"modality", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"tokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_ModalityTokenCount = {adk_ModalityTokenCount_fields, false};

static const struct adk_field adk_GenerateContentResponseUsageMetadata_fields[] = {
    {"cacheTokensDetails", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_ModalityTokenCount},
    {"cachedContentTokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"candidatesTokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"candidatesTokensDetails", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_ModalityTokenCount},
    {"promptTokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"promptTokensDetails", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_ModalityTokenCount},
    {"thoughtsTokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"toolUsePromptTokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"toolUsePromptTokensDetails", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_ModalityTokenCount},
    {"totalTokenCount", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"trafficType", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GenerateContentResponseUsageMetadata = {adk_GenerateContentResponseUsageMetadata_fields, false};

static const struct adk_field adk_LiveServerSessionResumptionUpdate_fields[] = {
    {"lastConsumedClientMessageIndex", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"newHandle", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"resumable", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_LiveServerSessionResumptionUpdate = {adk_LiveServerSessionResumptionUpdate_fields, false};

static const struct adk_field adk_LiveServerGoAway_fields[] = {
    {"timeLeft", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_LiveServerGoAway = {adk_LiveServerGoAway_fields, false};

static const struct adk_field adk_VoiceActivity_fields[] = {
    {"audioOffset", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"voiceActivityType", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_VoiceActivity = {adk_VoiceActivity_fields, false};

static const struct adk_field adk_LogprobsResultCandidate_fields[] = {
    {"logProbability", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"token", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"tokenId", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_LogprobsResultCandidate = {adk_LogprobsResultCandidate_fields, false};

static const struct adk_field adk_LogprobsResultTopCandidates_fields[] = {
    {"candidates", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_LogprobsResultCandidate},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_LogprobsResultTopCandidates = {adk_LogprobsResultTopCandidates_fields, false};

static const struct adk_field adk_LogprobsResult_fields[] = {
    {"chosenCandidates", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_LogprobsResultCandidate},
    {"logProbabilitySum", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"topCandidates", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_LogprobsResultTopCandidates},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_LogprobsResult = {adk_LogprobsResult_fields, false};

static const struct adk_field adk_CacheMetadata_fields[] = {
    {"cache_name", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"contents_count", ADK_NUMBER, ADK_ONE, ADK_REQUIRED, ADK_BY_KIND, NULL},
    {"created_at", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"expire_time", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"fingerprint", ADK_TEXT, ADK_ONE, ADK_REQUIRED, ADK_BY_KIND, NULL},
    {"invocations_used", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_CacheMetadata = {adk_CacheMetadata_fields, false};

static const struct adk_field adk_GoogleTypeDate_fields[] = {
    {"day", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"month", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"year", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_GoogleTypeDate = {adk_GoogleTypeDate_fields, false};

static const struct adk_field adk_Citation_fields[] = {
    {"endIndex", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"license", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"publicationDate", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GoogleTypeDate},
    {"startIndex", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"title", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"uri", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Citation = {adk_Citation_fields, false};

static const struct adk_field adk_CitationMetadata_fields[] = {
    {"citationSources", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_Citation},
    {"citations", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_Citation},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_CitationMetadata = {adk_CitationMetadata_fields, false};

static const struct adk_field adk_ToolConfirmation_fields[] = {
    {"confirmed", ADK_BOOL, ADK_ONE, 0, ADK_BY_KIND, NULL},
    {"hint", ADK_TEXT, ADK_ONE, 0, ADK_BY_KIND, NULL},
    {"payload", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_ToolConfirmation = {adk_ToolConfirmation_fields, false};

static const struct adk_field adk_EventCompaction_fields[] = {
    {"compactedContent", ADK_OBJECT, ADK_ONE, ADK_REQUIRED, ADK_WALK, &adk_Content},
    {"endTimestamp", ADK_NUMBER, ADK_ONE, ADK_REQUIRED, ADK_KEEP, NULL},
    {"startTimestamp", ADK_NUMBER, ADK_ONE, ADK_REQUIRED, ADK_KEEP, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_EventCompaction = {adk_EventCompaction_fields, false};

static const struct adk_field adk_UiWidget_fields[] = {
    {"id", ADK_TEXT, ADK_ONE, ADK_REQUIRED, ADK_BY_KIND, NULL},
    {"payload", ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL},
    {"provider", ADK_TEXT, ADK_ONE, ADK_REQUIRED, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_UiWidget = {adk_UiWidget_fields, false};

static const struct adk_field adk_EventActions_fields[] = {
    {"agentState", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"artifactDelta", ADK_NUMBER, ADK_MAP, 0, ADK_ARTIFACTS, NULL},
    {"compaction", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_WALK, &adk_EventCompaction},
    {"endOfAgent", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"escalate", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"renderUiWidgets", ADK_OBJECT, ADK_LIST, ADK_NULL, ADK_BY_KIND, &adk_UiWidget},
    {"requestedAuthConfigs", ADK_OPAQUE, ADK_MAP, 0, ADK_BY_KIND, NULL},
    {"requestedToolConfirmations", ADK_OBJECT, ADK_MAP, 0, ADK_BY_KIND, &adk_ToolConfirmation},
    {"rewindBeforeInvocationId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"route", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"setModelResponse", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"skipSummarization", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"stateDelta", ADK_JSON, ADK_ONE, 0, ADK_STATE, NULL},
    {"transferReason", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"transferToAgent", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_EventActions = {adk_EventActions_fields, false};

static const struct adk_field adk_NodeInfo_fields[] = {
    {"messageAsOutput", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"outputFor", ADK_TEXT, ADK_LIST, ADK_NULL, ADK_BY_KIND, NULL},
    {"path", ADK_TEXT, ADK_ONE, 0, ADK_BY_KIND, NULL},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_NodeInfo = {adk_NodeInfo_fields, true};

static const struct adk_field adk_Event_fields[] = {
    {"actions", ADK_OBJECT, ADK_ONE, 0, ADK_WALK, &adk_EventActions},
    {"author", ADK_TEXT, ADK_ONE, ADK_REQUIRED, ADK_KEEP, NULL},
    {"avgLogprobs", ADK_NUMBER, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"branch", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"cacheMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_CacheMetadata},
    {"citationMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_CitationMetadata},
    {"content", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_CONTENT, &adk_Content},
    {"customMetadata", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"environmentId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"errorCode", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"errorMessage", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"finishReason", ADK_WORD, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"goAway", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_LiveServerGoAway},
    {"groundingMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_GroundingMetadata},
    {"id", ADK_TEXT, ADK_ONE, 0, ADK_KEEP, NULL},
    {"inputTranscription", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_Transcription},
    {"interactionId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"interactionStatus", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"interrupted", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"invocationId", ADK_TEXT, ADK_ONE, 0, ADK_KEEP, NULL},
    {"isolationScope", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"liveSessionId", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"liveSessionResumptionUpdate", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_LiveServerSessionResumptionUpdate},
    {"logprobsResult", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_LogprobsResult},
    {"longRunningToolIds", ADK_TEXT, ADK_LIST, ADK_NULL, ADK_KEEP, NULL},
    {"modelVersion", ADK_TEXT, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"nodeInfo", ADK_OBJECT, ADK_ONE, 0, ADK_BY_KIND, &adk_NodeInfo},
    {"output", ADK_JSON, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"outputTranscription", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_Transcription},
    {"partial", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"timestamp", ADK_NUMBER, ADK_ONE, 0, ADK_KEEP, NULL},
    {"turnComplete", ADK_BOOL, ADK_ONE, ADK_NULL, ADK_KEEP, NULL},
    {"turnCompleteReason", ADK_WORD, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL},
    {"usageMetadata", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_KEEP, &adk_GenerateContentResponseUsageMetadata},
    {"voiceActivity", ADK_OBJECT, ADK_ONE, ADK_NULL, ADK_BY_KIND, &adk_VoiceActivity},
    {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}};
static const struct adk_model adk_Event = {adk_Event_fields, true};

const struct adk_model *const ses__adk_event = &adk_Event;
/* clang-format on */
