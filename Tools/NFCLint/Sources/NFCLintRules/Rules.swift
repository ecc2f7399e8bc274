// SPDX-License-Identifier: Apache-2.0
public import NFCLintEngine

/// All rules.
public enum Rules {
    /// The rules in order of their ids.
    public static let all: [Rule] = associations + configuration + domains + files + source + tags + texts

    /// Those of Info.plist and entitlements.
    static let configuration: [Rule] = [
        .missingUsageDescription, .emptyUsageDescription, .vagueUsageDescription, .missingReaderEntitlement,
        .ndefFormat, .missingTagFormat, .missingNDEFFormat, .unknownFormat, .formatAvailability, .formatsInInfoPlist,
        .invalidAID, .repeatedAID, .paymentAID, .shadowedAID, .aidsInEntitlements, .ndefAID, .invalidSystemCode,
        .wildcardSystemCode, .misplacedSystemCodes, .misspelledKey, .requiredDeviceCapability, .extensionKeys,
        .unusedEntitlements, .longAIDList, .missingCardEntitlement, .invalidCardPrefix, .cardAvailability,
    ]

    /// Those of sources.
    static let source: [Rule] = [
        .uncheckedAvailability, .shortLivedDelegate, .keptSession, .cancellationAsError, .uncheckedStatus,
        .uncheckedCapacity, .overlappingSessions, .restartedSession, .missingConfiguration, .unlistedAID,
        .unconnectedTag, .hangingPath, .unhandledTags, .writeAfterFirstRead, .missingErrorSymbol,
        .interfaceOffMainQueue, .untestedUserActivity, .unansweredLinks, .backgroundOnly, .missingUnknownDefault,
        .uncheckedCardSession, .deprecatedName, .handDecodedRecord, .malformedRecord, .invalidatedTwice,
        .scanWithoutAction, .unreachableDidDetect, .forcedErrorCast, .errorByText, .manyTagsTextOnly,
        .forcedTagSession, .misplacedLinkHandler, .mainActorDelegate,
    ]

    /// The rules about texts for people.
    static let texts: [Rule] = [
        .technologyWord, .askToTouch, .incompleteSentence, .titleCase, .missingPunctuation, .longText, .unnamedObject,
        .unchangedText, .rawErrorText, .missingText,
    ]

    /// Those of association files.
    static let associations: [Rule] = [
        .associationNotAnObject, .associationTooLarge, .associationPartMissing, .associationEntryApps,
        .associationAppIdentifier, .componentsBesidePaths, .appsNotEmpty, .queryValueNotAString, .undefinedVariable,
        .variableWithoutEffect, .unreachableRule, .queryInPath, .escapeThatNeverMatches, .unknownAssociationKey,
        .malformedNot, .tagLinkNotMatched, .associationFileName,
    ]

    /// Those of associated domains.
    static let domains: [Rule] = [
        .missingDomains, .missingAppLinks, .unknownDomainService, .domainWithMore, .misplacedWildcard,
        .wildcardWithoutDomain, .developerModeDomain, .unknownDomainMode, .tooManyDomains, .missingTagDomain,
    ]

    /// That of files that can't be read.
    static let files: [Rule] = [.unreadableFile]

    /// The rules about contents of tags.
    static let tags: [Rule] = [
        .missingURIRecord, .linkNotFirst, .malformedURIRecord, .customScheme, .nothingForBackground,
        .missingCountryCode, .linkNotHTTPS,
    ]

    /// The rule of an id, in any case; nil when there is none.
    public static func rule(_ id: String) -> Rule? { all.first { $0.id == id.uppercased() } }
}
