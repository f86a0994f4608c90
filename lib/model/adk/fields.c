/*
 * Made by tools/adk/fields.py from the classes of google-adk 2.13.0 and google-genai 2.34.0.
 * All of them accept both spellings of a name. `citationSources` is the API's own name for `citations`.
 */
#include "model/adk/fields.h"

/* clang-format off */
#define ADK_PLAIN(name, kind) {#name, ADK_##kind, ADK_ONE, ADK_NULL, ADK_BY_KIND, NULL}
#define ADK_FIELD(name, kind, form, flags, erasure) \
    {#name, ADK_##kind, ADK_##form, flags, ADK_##erasure, NULL}
#define ADK_INNER(name, of, form, flags, erasure) \
    {#name, ADK_OBJECT, ADK_##form, flags, ADK_##erasure, &adk_##of}
#define ADK_CLASS(name, ignores, ...) \
    static const struct adk_model adk_##name = { \
        (const struct adk_field[]){__VA_ARGS__, {NULL, ADK_JSON, ADK_ONE, 0, ADK_BY_KIND, NULL}}, ignores}

ADK_CLASS(PartMediaResolution, false,
    ADK_PLAIN(level, WORD), ADK_PLAIN(numTokens, NUMBER));

ADK_CLASS(CodeExecutionResult, false,
    ADK_FIELD(id, TEXT, ONE, ADK_NULL, KEEP), ADK_FIELD(outcome, WORD, ONE, ADK_NULL, KEEP),
    ADK_PLAIN(output, TEXT));

ADK_CLASS(ExecutableCode, false,
    ADK_PLAIN(code, TEXT), ADK_FIELD(id, TEXT, ONE, ADK_NULL, KEEP),
    ADK_FIELD(language, WORD, ONE, ADK_NULL, KEEP));

ADK_CLASS(FileData, false,
    ADK_PLAIN(displayName, TEXT), ADK_PLAIN(fileUri, TEXT), ADK_PLAIN(mimeType, TEXT));

ADK_CLASS(PartialArg, false,
    ADK_PLAIN(boolValue, BOOL), ADK_PLAIN(jsonPath, TEXT), ADK_PLAIN(nullValue, WORD),
    ADK_PLAIN(numberValue, NUMBER), ADK_PLAIN(stringValue, TEXT), ADK_PLAIN(willContinue, BOOL));

ADK_CLASS(FunctionCall, false,
    ADK_FIELD(args, JSON, ONE, ADK_NULL, ARGUMENTS), ADK_FIELD(id, TEXT, ONE, ADK_NULL, KEEP),
    ADK_FIELD(name, TEXT, ONE, ADK_NULL, KEEP), ADK_INNER(partialArgs, PartialArg, LIST, ADK_NULL, DROP),
    ADK_PLAIN(willContinue, BOOL));

ADK_CLASS(FunctionResponseBlob, false,
    ADK_PLAIN(data, BYTES), ADK_PLAIN(displayName, TEXT), ADK_PLAIN(mimeType, TEXT));

ADK_CLASS(FunctionResponseFileData, false,
    ADK_PLAIN(displayName, TEXT), ADK_PLAIN(fileUri, TEXT), ADK_PLAIN(mimeType, TEXT));

ADK_CLASS(FunctionResponsePart, false,
    ADK_INNER(fileData, FunctionResponseFileData, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(inlineData, FunctionResponseBlob, ONE, ADK_NULL, BY_KIND), ADK_PLAIN(mediaProcessing, WORD));

ADK_CLASS(FunctionResponse, false,
    ADK_FIELD(id, TEXT, ONE, ADK_NULL, KEEP), ADK_FIELD(name, TEXT, ONE, ADK_NULL, KEEP),
    ADK_INNER(parts, FunctionResponsePart, LIST, ADK_NULL, DROP),
    ADK_FIELD(response, JSON, ONE, ADK_NULL, ARGUMENTS), ADK_FIELD(scheduling, WORD, ONE, ADK_NULL, KEEP),
    ADK_PLAIN(willContinue, BOOL));

ADK_CLASS(Blob, false,
    ADK_PLAIN(data, BYTES), ADK_PLAIN(displayName, TEXT), ADK_PLAIN(mimeType, TEXT));

ADK_CLASS(VideoMetadata, false,
    ADK_PLAIN(endOffset, TEXT), ADK_PLAIN(fps, NUMBER), ADK_PLAIN(startOffset, TEXT));

ADK_CLASS(ToolCall, false,
    ADK_PLAIN(args, JSON), ADK_PLAIN(id, TEXT), ADK_PLAIN(toolType, WORD));

ADK_CLASS(ToolResponse, false,
    ADK_PLAIN(id, TEXT), ADK_PLAIN(response, JSON), ADK_PLAIN(toolType, WORD));

ADK_CLASS(WordInfo, false,
    ADK_PLAIN(endOffset, TEXT), ADK_PLAIN(startOffset, TEXT), ADK_PLAIN(word, TEXT));

ADK_CLASS(Transcription, false,
    ADK_PLAIN(endOffset, TEXT), ADK_PLAIN(finished, BOOL), ADK_PLAIN(languageCode, TEXT),
    ADK_PLAIN(speakerLabel, TEXT), ADK_PLAIN(startOffset, TEXT), ADK_PLAIN(text, TEXT),
    ADK_INNER(words, WordInfo, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(SpeechMetadata, false,
    ADK_PLAIN(speaker, TEXT), ADK_PLAIN(style, TEXT));

ADK_CLASS(Part, false,
    ADK_INNER(audioTranscription, Transcription, ONE, ADK_NULL, DROP),
    ADK_INNER(codeExecutionResult, CodeExecutionResult, ONE, ADK_NULL, WALK),
    ADK_INNER(executableCode, ExecutableCode, ONE, ADK_NULL, WALK),
    ADK_INNER(fileData, FileData, ONE, ADK_NULL, DROP),
    ADK_INNER(functionCall, FunctionCall, ONE, ADK_NULL, WALK),
    ADK_INNER(functionResponse, FunctionResponse, ONE, ADK_NULL, WALK),
    ADK_INNER(inlineData, Blob, ONE, ADK_NULL, DROP), ADK_FIELD(mediaProcessing, WORD, ONE, ADK_NULL, DROP),
    ADK_INNER(mediaResolution, PartMediaResolution, ONE, ADK_NULL, DROP),
    ADK_FIELD(partMetadata, JSON, ONE, ADK_NULL, DROP),
    ADK_INNER(speechMetadata, SpeechMetadata, ONE, ADK_NULL, DROP), ADK_PLAIN(text, TEXT),
    ADK_PLAIN(thought, BOOL), ADK_FIELD(thoughtSignature, BYTES, ONE, ADK_NULL, DROP),
    ADK_INNER(toolCall, ToolCall, ONE, ADK_NULL, DROP),
    ADK_INNER(toolResponse, ToolResponse, ONE, ADK_NULL, DROP),
    ADK_INNER(videoMetadata, VideoMetadata, ONE, ADK_NULL, DROP));

ADK_CLASS(Content, false,
    ADK_INNER(parts, Part, LIST, ADK_NULL, PARTS), ADK_FIELD(role, TEXT, ONE, ADK_NULL, KEEP));

ADK_CLASS(GroundingChunkImage, false,
    ADK_PLAIN(domain, TEXT), ADK_PLAIN(imageUri, TEXT), ADK_PLAIN(sourceUri, TEXT), ADK_PLAIN(title, TEXT));

ADK_CLASS(GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution, false,
    ADK_PLAIN(displayName, TEXT), ADK_PLAIN(photoUri, TEXT), ADK_PLAIN(uri, TEXT));

ADK_CLASS(GroundingChunkMapsPlaceAnswerSourcesReviewSnippet, false,
    ADK_INNER(authorAttribution, GroundingChunkMapsPlaceAnswerSourcesAuthorAttribution, ONE, ADK_NULL, BY_KIND),
    ADK_PLAIN(flagContentUri, TEXT), ADK_PLAIN(googleMapsUri, TEXT),
    ADK_PLAIN(relativePublishTimeDescription, TEXT), ADK_PLAIN(review, TEXT), ADK_PLAIN(reviewId, TEXT),
    ADK_PLAIN(title, TEXT));

ADK_CLASS(GroundingChunkMapsPlaceAnswerSources, false,
    ADK_PLAIN(flagContentUri, TEXT),
    ADK_INNER(reviewSnippet, GroundingChunkMapsPlaceAnswerSourcesReviewSnippet, LIST, ADK_NULL, BY_KIND),
    ADK_INNER(reviewSnippets, GroundingChunkMapsPlaceAnswerSourcesReviewSnippet, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(GroundingChunkMapsRoute, false,
    ADK_PLAIN(distanceMeters, NUMBER), ADK_PLAIN(duration, TEXT), ADK_PLAIN(encodedPolyline, TEXT));

ADK_CLASS(GroundingChunkMaps, false,
    ADK_INNER(placeAnswerSources, GroundingChunkMapsPlaceAnswerSources, ONE, ADK_NULL, BY_KIND),
    ADK_PLAIN(placeId, TEXT), ADK_INNER(route, GroundingChunkMapsRoute, ONE, ADK_NULL, BY_KIND),
    ADK_PLAIN(text, TEXT), ADK_PLAIN(title, TEXT), ADK_PLAIN(uri, TEXT));

ADK_CLASS(RagChunkPageSpan, false,
    ADK_PLAIN(firstPage, NUMBER), ADK_PLAIN(lastPage, NUMBER));

ADK_CLASS(RagChunk, false,
    ADK_PLAIN(chunkId, TEXT), ADK_PLAIN(fileId, TEXT),
    ADK_INNER(pageSpan, RagChunkPageSpan, ONE, ADK_NULL, BY_KIND), ADK_PLAIN(text, TEXT));

ADK_CLASS(GroundingChunkStringList, false,
    ADK_FIELD(values, TEXT, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(GroundingChunkCustomMetadata, false,
    ADK_PLAIN(key, TEXT), ADK_PLAIN(numericValue, NUMBER),
    ADK_INNER(stringListValue, GroundingChunkStringList, ONE, ADK_NULL, BY_KIND),
    ADK_PLAIN(stringValue, TEXT));

ADK_CLASS(GroundingChunkRetrievedContext, false,
    ADK_INNER(customMetadata, GroundingChunkCustomMetadata, LIST, ADK_NULL, BY_KIND),
    ADK_PLAIN(documentName, TEXT), ADK_PLAIN(fileSearchStore, TEXT), ADK_PLAIN(mediaId, TEXT),
    ADK_PLAIN(pageNumber, NUMBER), ADK_INNER(ragChunk, RagChunk, ONE, ADK_NULL, BY_KIND),
    ADK_PLAIN(text, TEXT), ADK_PLAIN(title, TEXT), ADK_PLAIN(uri, TEXT));

ADK_CLASS(GroundingChunkWeb, false,
    ADK_PLAIN(domain, TEXT), ADK_PLAIN(title, TEXT), ADK_PLAIN(uri, TEXT));

ADK_CLASS(GroundingChunk, false,
    ADK_INNER(image, GroundingChunkImage, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(maps, GroundingChunkMaps, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(retrievedContext, GroundingChunkRetrievedContext, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(web, GroundingChunkWeb, ONE, ADK_NULL, BY_KIND));

ADK_CLASS(Segment, false,
    ADK_PLAIN(endIndex, NUMBER), ADK_PLAIN(partIndex, NUMBER), ADK_PLAIN(startIndex, NUMBER),
    ADK_PLAIN(text, TEXT));

ADK_CLASS(GroundingSupport, false,
    ADK_FIELD(confidenceScores, NUMBER, LIST, ADK_NULL, BY_KIND),
    ADK_FIELD(groundingChunkIndices, NUMBER, LIST, ADK_NULL, BY_KIND),
    ADK_FIELD(renderedParts, NUMBER, LIST, ADK_NULL, BY_KIND),
    ADK_INNER(segment, Segment, ONE, ADK_NULL, BY_KIND));

ADK_CLASS(RetrievalMetadata, false,
    ADK_PLAIN(googleSearchDynamicRetrievalScore, NUMBER));

ADK_CLASS(SearchEntryPoint, false,
    ADK_PLAIN(renderedContent, TEXT), ADK_PLAIN(sdkBlob, BYTES));

ADK_CLASS(GroundingMetadataSourceFlaggingUri, false,
    ADK_PLAIN(flagContentUri, TEXT), ADK_PLAIN(sourceId, TEXT));

ADK_CLASS(GroundingMetadata, false,
    ADK_PLAIN(googleMapsWidgetContextToken, TEXT),
    ADK_INNER(groundingChunks, GroundingChunk, LIST, ADK_NULL, BY_KIND),
    ADK_INNER(groundingSupports, GroundingSupport, LIST, ADK_NULL, BY_KIND),
    ADK_FIELD(imageSearchQueries, TEXT, LIST, ADK_NULL, BY_KIND),
    ADK_INNER(retrievalMetadata, RetrievalMetadata, ONE, ADK_NULL, BY_KIND),
    ADK_FIELD(retrievalQueries, TEXT, LIST, ADK_NULL, BY_KIND),
    ADK_INNER(searchEntryPoint, SearchEntryPoint, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(sourceFlaggingUris, GroundingMetadataSourceFlaggingUri, LIST, ADK_NULL, BY_KIND),
    ADK_FIELD(webSearchQueries, TEXT, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(ModalityTokenCount, false,
    ADK_PLAIN(modality, WORD), ADK_PLAIN(tokenCount, NUMBER));

ADK_CLASS(GenerateContentResponseUsageMetadata, false,
    ADK_INNER(cacheTokensDetails, ModalityTokenCount, LIST, ADK_NULL, BY_KIND),
    ADK_PLAIN(cachedContentTokenCount, NUMBER), ADK_PLAIN(candidatesTokenCount, NUMBER),
    ADK_INNER(candidatesTokensDetails, ModalityTokenCount, LIST, ADK_NULL, BY_KIND),
    ADK_PLAIN(promptTokenCount, NUMBER),
    ADK_INNER(promptTokensDetails, ModalityTokenCount, LIST, ADK_NULL, BY_KIND),
    ADK_PLAIN(thoughtsTokenCount, NUMBER), ADK_PLAIN(toolUsePromptTokenCount, NUMBER),
    ADK_INNER(toolUsePromptTokensDetails, ModalityTokenCount, LIST, ADK_NULL, BY_KIND),
    ADK_PLAIN(totalTokenCount, NUMBER), ADK_PLAIN(trafficType, WORD));

ADK_CLASS(LiveServerSessionResumptionUpdate, false,
    ADK_PLAIN(lastConsumedClientMessageIndex, NUMBER), ADK_PLAIN(newHandle, TEXT),
    ADK_PLAIN(resumable, BOOL));

ADK_CLASS(LiveServerGoAway, false,
    ADK_PLAIN(timeLeft, TEXT));

ADK_CLASS(VoiceActivity, false,
    ADK_PLAIN(audioOffset, TEXT), ADK_PLAIN(voiceActivityType, WORD));

ADK_CLASS(LogprobsResultCandidate, false,
    ADK_PLAIN(logProbability, NUMBER), ADK_PLAIN(token, TEXT), ADK_PLAIN(tokenId, NUMBER));

ADK_CLASS(LogprobsResultTopCandidates, false,
    ADK_INNER(candidates, LogprobsResultCandidate, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(LogprobsResult, false,
    ADK_INNER(chosenCandidates, LogprobsResultCandidate, LIST, ADK_NULL, BY_KIND),
    ADK_PLAIN(logProbabilitySum, NUMBER),
    ADK_INNER(topCandidates, LogprobsResultTopCandidates, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(CacheMetadata, false,
    ADK_PLAIN(cache_name, TEXT), ADK_FIELD(contents_count, NUMBER, ONE, ADK_REQUIRED, BY_KIND),
    ADK_PLAIN(created_at, NUMBER), ADK_FIELD(expire_time, NUMBER, ONE, ADK_NULL | ADK_REQUIRED, BY_KIND),
    ADK_FIELD(fingerprint, TEXT, ONE, ADK_REQUIRED, BY_KIND),
    ADK_FIELD(invocations_used, NUMBER, ONE, ADK_NULL | ADK_REQUIRED, BY_KIND));

ADK_CLASS(GoogleTypeDate, false,
    ADK_PLAIN(day, NUMBER), ADK_PLAIN(month, NUMBER), ADK_PLAIN(year, NUMBER));

ADK_CLASS(Citation, false,
    ADK_PLAIN(endIndex, NUMBER), ADK_PLAIN(license, TEXT),
    ADK_INNER(publicationDate, GoogleTypeDate, ONE, ADK_NULL, BY_KIND), ADK_PLAIN(startIndex, NUMBER),
    ADK_PLAIN(title, TEXT), ADK_PLAIN(uri, TEXT));

ADK_CLASS(CitationMetadata, false,
    ADK_INNER(citationSources, Citation, LIST, ADK_NULL, BY_KIND),
    ADK_INNER(citations, Citation, LIST, ADK_NULL, BY_KIND));

ADK_CLASS(ToolConfirmation, false,
    ADK_FIELD(confirmed, BOOL, ONE, 0, BY_KIND), ADK_FIELD(hint, TEXT, ONE, 0, BY_KIND),
    ADK_PLAIN(payload, JSON));

ADK_CLASS(EventCompaction, false,
    ADK_INNER(compactedContent, Content, ONE, ADK_REQUIRED, WALK),
    ADK_FIELD(endTimestamp, NUMBER, ONE, ADK_REQUIRED, KEEP),
    ADK_FIELD(startTimestamp, NUMBER, ONE, ADK_REQUIRED, KEEP));

ADK_CLASS(UiWidget, false,
    ADK_FIELD(id, TEXT, ONE, ADK_REQUIRED, BY_KIND), ADK_FIELD(payload, JSON, ONE, 0, BY_KIND),
    ADK_FIELD(provider, TEXT, ONE, ADK_REQUIRED, BY_KIND));

ADK_CLASS(EventActions, false,
    ADK_PLAIN(agentState, JSON), ADK_FIELD(artifactDelta, NUMBER, MAP, 0, ARTIFACTS),
    ADK_INNER(compaction, EventCompaction, ONE, ADK_NULL, WALK),
    ADK_FIELD(endOfAgent, BOOL, ONE, ADK_NULL, KEEP), ADK_FIELD(escalate, BOOL, ONE, ADK_NULL, KEEP),
    ADK_INNER(renderUiWidgets, UiWidget, LIST, ADK_NULL, BY_KIND),
    ADK_FIELD(requestedAuthConfigs, OPAQUE, MAP, 0, BY_KIND),
    ADK_INNER(requestedToolConfirmations, ToolConfirmation, MAP, 0, BY_KIND),
    ADK_FIELD(rewindBeforeInvocationId, TEXT, ONE, ADK_NULL, KEEP), ADK_PLAIN(route, JSON),
    ADK_PLAIN(setModelResponse, JSON), ADK_FIELD(skipSummarization, BOOL, ONE, ADK_NULL, KEEP),
    ADK_FIELD(stateDelta, JSON, ONE, 0, STATE), ADK_PLAIN(transferReason, TEXT),
    ADK_FIELD(transferToAgent, TEXT, ONE, ADK_NULL, KEEP));

ADK_CLASS(NodeInfo, true,
    ADK_PLAIN(messageAsOutput, BOOL), ADK_FIELD(outputFor, TEXT, LIST, ADK_NULL, BY_KIND),
    ADK_FIELD(path, TEXT, ONE, 0, BY_KIND));

ADK_CLASS(Event, true,
    ADK_INNER(actions, EventActions, ONE, 0, WALK), ADK_FIELD(author, TEXT, ONE, ADK_REQUIRED, KEEP),
    ADK_FIELD(avgLogprobs, NUMBER, ONE, ADK_NULL, KEEP), ADK_FIELD(branch, TEXT, ONE, ADK_NULL, KEEP),
    ADK_INNER(cacheMetadata, CacheMetadata, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(citationMetadata, CitationMetadata, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(content, Content, ONE, ADK_NULL, CONTENT), ADK_PLAIN(customMetadata, JSON),
    ADK_PLAIN(environmentId, TEXT), ADK_FIELD(errorCode, TEXT, ONE, ADK_NULL, KEEP),
    ADK_PLAIN(errorMessage, TEXT), ADK_FIELD(finishReason, WORD, ONE, ADK_NULL, KEEP),
    ADK_INNER(goAway, LiveServerGoAway, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(groundingMetadata, GroundingMetadata, ONE, ADK_NULL, BY_KIND),
    ADK_FIELD(id, TEXT, ONE, 0, KEEP), ADK_INNER(inputTranscription, Transcription, ONE, ADK_NULL, BY_KIND),
    ADK_PLAIN(interactionId, TEXT), ADK_PLAIN(interactionStatus, WORD),
    ADK_FIELD(interrupted, BOOL, ONE, ADK_NULL, KEEP), ADK_FIELD(invocationId, TEXT, ONE, 0, KEEP),
    ADK_FIELD(isolationScope, TEXT, ONE, ADK_NULL, KEEP), ADK_PLAIN(liveSessionId, TEXT),
    ADK_INNER(liveSessionResumptionUpdate, LiveServerSessionResumptionUpdate, ONE, ADK_NULL, BY_KIND),
    ADK_INNER(logprobsResult, LogprobsResult, ONE, ADK_NULL, BY_KIND),
    ADK_FIELD(longRunningToolIds, TEXT, LIST, ADK_NULL, KEEP),
    ADK_FIELD(modelVersion, TEXT, ONE, ADK_NULL, KEEP), ADK_INNER(nodeInfo, NodeInfo, ONE, 0, BY_KIND),
    ADK_PLAIN(output, JSON), ADK_INNER(outputTranscription, Transcription, ONE, ADK_NULL, BY_KIND),
    ADK_FIELD(partial, BOOL, ONE, ADK_NULL, KEEP), ADK_FIELD(timestamp, NUMBER, ONE, 0, KEEP),
    ADK_FIELD(turnComplete, BOOL, ONE, ADK_NULL, KEEP), ADK_PLAIN(turnCompleteReason, WORD),
    ADK_INNER(usageMetadata, GenerateContentResponseUsageMetadata, ONE, ADK_NULL, KEEP),
    ADK_INNER(voiceActivity, VoiceActivity, ONE, ADK_NULL, BY_KIND));

const struct adk_model *const ses__adk_event = &adk_Event;
/* clang-format on */
