// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink
import TagProtocols

/// What a tag session looks for: its configuration, compared with the app's lists.
struct TagSearch: Sendable {
    /// The technologies.
    var options: NFCTagReaderSession.PollingOption
    /// The applications, in order, in upper-case hexadecimal digits.
    var applications: [String]
    var hasApplicationList: Bool
    /// The reader's part of the search.
    var plan: PollingPlan

    /// Works out what to look for.
    ///
    /// - Parameter app: the app's lists. Without a property list, everything that the session asks for is allowed.
    init(_ configuration: NFCTagReaderSession.Configuration, in app: AppConfiguration) {
        let isListed = app.infoPlist != nil || app.isStrict
        let options = configuration.pollingOption.intersection(.known)
        let wanted = configuration.iso7816SelectIdentifiers
        let applications = Self.part(wanted, of: app.selectIdentifiers, isListed: isListed)
        let codes = Self.part(configuration.feliCaSystemCodes, of: app.systemCodes, isListed: isListed)
            .compactMap { UInt16($0, radix: 16) }
        self.options = options
        self.applications = applications
        hasApplicationList = isListed || !wanted.isEmpty
        var technologies: Set<Technology> = []
        if !options.isDisjoint(with: [.iso14443, .pace]) { technologies.formUnion([.nfcA, .nfcB]) }
        if options.contains(.iso15693) { technologies.insert(.nfcV) }
        if options.contains(.iso18092) { technologies.insert(.nfcF) }
        plan = PollingPlan(
            technologies: technologies,
            // An app without any list accepts every system.
            systemCodes: codes.isEmpty && !isListed && configuration.feliCaSystemCodes.isEmpty ? [0xFFFF] : codes,
            opensCards: true,
            applications: applications.compactMap { [UInt8](hexadecimal: $0.utf8) }.filter(Self.isName),
            findsPACE: options.contains(.pace)
        )
    }

    /// The wanted entries of a list, each once; the whole list when nothing is wanted in particular.
    private static func part(_ wanted: [String], of list: [String], isListed: Bool) -> [String] {
        if wanted.isEmpty { return list }
        var part: [String] = []
        for entry in wanted.map({ $0.uppercased() }) where !part.contains(entry) {
            if !isListed || list.contains(entry) { part.append(entry) }
        }
        return part
    }

    /// Whether bytes can be an application's name, which has 16 bytes at most (ISO/IEC 7816-4). A SELECT without a name
    /// would select the application that the card prefers.
    private static func isName(_ bytes: [UInt8]) -> Bool { (1...16).contains(bytes.count) }

    var request: AppConfiguration.Request {
        .tags(feliCa: options.contains(.iso18092), pace: options.contains(.pace))
    }

    /// The error of a session that looks for nothing; nil for any other.
    var refusal: NFCReaderError? {
        guard options.isEmpty else { return nil }
        return NFCReaderError(
            .readerErrorInvalidParameter,
            reason: "The configuration names no technology to look for."
        )
    }
}

extension NFCReaderSession {
    /// Reports a card that has none of the applications in the app's list.
    func reportMissingApplication(of tag: ConnectableTag, in search: TagSearch) {
        guard !search.applications.isEmpty, tag.selectedApplication == nil, !tag.supportsPACE, tag.target.isISODEP
        else {
            return
        }
        let findsOthers = search.options.contains(.iso14443)
        switch tag.target.technology {
        // A card whose transport protocol failed to start was not asked.
        case .nfcA: if tag.answerToSelect != nil { mistakes.add(.noListedApplication(arrives: findsOthers)) }
        case .nfcB: mistakes.add(.noListedApplication(arrives: false))
        case .nfcF, .nfcV: break
        }
    }
}
