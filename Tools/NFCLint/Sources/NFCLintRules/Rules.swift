// SPDX-License-Identifier: Apache-2.0
public import NFCLintEngine

/// All rules.
public enum Rules {
    /// All rules, in the order of their ids.
    public static let all: [Rule] = associations + configuration + domains + files + source + tags + texts

    /// The rules about Info.plist and entitlements.
    static let configuration: [Rule] = [
        .missingUsageDescription, .emptyUsageDescription, .vagueUsageDescription, .missingReaderEntitlement,
        .ndefFormat, .missingTagFormat, .missingNDEFFormat, .unknownFormat, .formatAvailability, .formatsInInfoPlist,
        .invalidAID, .repeatedAID, .paymentAID, .shadowedAID, .aidsInEntitlements, .ndefAID, .invalidSystemCode,
        .wildcardSystemCode, .misplacedSystemCodes, .misspelledKey, .requiredDeviceCapability, .extensionKeys,
        .unusedEntitlements, .longAIDList, .requiredFramework, .missingCardEntitlement, .invalidCardPrefix,
        .cardAvailability,
    ]

    /// The rules about source code.
    static let source: [Rule] = [
        .uncheckedAvailability, .shortLivedDelegate, .keptSession, .cancellationAsError, .uncheckedStatus,
        .uncheckedCapacity, .overlappingSessions, .restartedSession, .missingConfiguration, .unlistedAID,
        .unconnectedTag, .hangingPath, .unhandledTags, .writeAfterFirstRead, .missingErrorSymbol,
        .interfaceOffMainQueue, .untestedUserActivity, .unansweredLinks, .backgroundOnly, .missingUnknownDefault,
        .uncheckedCardSession, .deprecatedName, .handDecodedRecord, .malformedRecord, .invalidatedTwice,
        .scanWithoutAction, .unreachableDidDetect, .forcedErrorCast, .errorByText, .manyTagsTextOnly,
        .forcedTagSession, .misplacedLinkHandler, .mainActorDelegate, .impossibleCommand,
        .unpolledTechnology, .singleBlockLoop, .failureAsSuccess, .forcedTagData, .initializedTwice,
    ]

    /// The rules about texts for users.
    static let texts: [Rule] = [
        .technologyWord, .askToTouch, .incompleteSentence, .titleCase, .missingPunctuation, .longText, .unnamedObject,
        .unchangedText, .rawErrorText, .missingText,
    ]

    /// The rules about association files.
    static let associations: [Rule] = [
        .associationNotAnObject, .associationTooLarge, .associationPartMissing, .associationEntryApps,
        .associationAppIdentifier, .componentsBesidePaths, .appsNotEmpty, .queryValueNotAString, .undefinedVariable,
        .variableWithoutEffect, .unreachableRule, .queryInPath, .escapeThatNeverMatches, .unknownAssociationKey,
        .malformedNot, .tagLinkNotMatched, .associationFileName,
    ]

    /// The rules about associated domains.
    static let domains: [Rule] = [
        .missingDomains, .missingAppLinks, .unknownDomainService, .domainWithMore, .misplacedWildcard,
        .wildcardWithoutDomain, .developerModeDomain, .unknownDomainMode, .tooManyDomains, .missingTagDomain,
    ]

    /// The rule about files that can't be read.
    static let files: [Rule] = [.unreadableFile]

    /// The rules about the contents of tags.
    static let tags: [Rule] = [
        .missingURIRecord, .linkNotFirst, .malformedURIRecord, .customScheme, .nothingForBackground,
        .missingCountryCode, .linkNotHTTPS,
    ]

    /// The rule with an id, ignoring case; nil if there is none.
    public static func rule(_ id: String) -> Rule? { all.first { $0.id == id.uppercased() } }
}
