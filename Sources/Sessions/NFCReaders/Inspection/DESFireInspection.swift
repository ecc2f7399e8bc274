// SPDX-License-Identifier: Apache-2.0
package import NFCSessions
import TagLink
package import TagProtocols
import VirtualTags

/// What a DESFire shows of its applications, files and keys.
package struct DESFireInspection: Sendable {
    package struct Keys: Sendable {
        package var settings: UInt8
        package var kind: DESFireSecret.Kind
        package var versions: [UInt8]
    }

    package struct Application: Sendable {
        package var identifier: UInt32
        /// Nil if the card needs a key first.
        package var keys: Keys?
        /// The settings are nil for a kind of file that is not known. Nil if the card needs a key first.
        package var files: [(number: UInt8, settings: DESFireFileSettings?)]?
    }

    package var product: String?
    package var uid: [UInt8]
    package var freeMemory: Int?
    package var keys: Keys?
    /// Nil if the card needs a key first.
    package var applications: [Application]?

    /// Reads all that the card shows. The session is that of the card itself, without a key.
    ///
    /// - Parameter app: the application of the key; nil for the card.
    package init(
        of tag: ActivatedTag,
        _ session: inout DESFireSession,
        app: UInt32? = nil,
        key: (number: UInt8, key: DESFireSecret)? = nil
    ) async throws(TagError) {
        product = await tag.productName()
        uid = tag.target.identifier
        try await session.select(0)
        if app == nil, let key { try await session.authenticate(key.number, key.key) }
        freeMemory = try await Self.shown { () throws(TagError) in try await session.freeMemory() }
        keys = try await Keys(of: &session)
        let all = try await Self.shown { () throws(TagError) in try await session.applications() }
        guard let identifiers = all ?? app.map({ [$0] }) else { return }
        applications = []
        for identifier in identifiers {
            try await session.select(identifier)
            if identifier == app, let key { try await session.authenticate(key.number, key.key) }
            var application = Application(identifier: identifier, keys: try await Keys(of: &session))
            application.files = try await Self.files(in: &session)
            applications?.append(application)
        }
    }

    private static func files(
        in session: inout DESFireSession
    ) async throws(TagError) -> [(number: UInt8, settings: DESFireFileSettings?)]? {
        guard let numbers = try await shown({ () throws(TagError) in try await session.files() }) else { return nil }
        var files: [(number: UInt8, settings: DESFireFileSettings?)] = []
        for number in numbers {
            files.append((number, try await shown { () throws(TagError) in try await session.settings(of: number) }))
        }
        return files
    }

    /// An AID as six hex digits.
    package static func name(_ application: UInt32) -> String {
        [UInt8](bigEndian: Int(application), count: 3).hexText()
    }

    /// Returns nil for what needs a key, or what the card does not know.
    fileprivate static func shown<Value>(
        _ body: () async throws(TagError) -> Value
    ) async throws(TagError) -> Value? {
        do throws(TagError) {
            return try await body()
        } catch {
            guard error.code == .keyNeeded || error.code == .unsupported else { throw error }
            return nil
        }
    }
}

extension DESFireInspection.Keys {
    /// Reads the settings and the versions of the keys; nil if the card needs a key first.
    fileprivate init?(of session: inout DESFireSession) async throws(TagError) {
        let settings = try await DESFireInspection.shown { () throws(TagError) in try await session.keySettings() }
        guard let settings else { return nil }
        var versions: [UInt8] = []
        for number in 0..<settings.count { versions.append(try await session.keyVersion(UInt8(number))) }
        self.init(settings: settings.settings, kind: settings.kind, versions: versions)
    }
}

extension ActivatedTag {
    /// Begins a session with a DESFire, and proves a key.
    ///
    /// - Parameter application: the application to select; nil for the card itself.
    package func desfire(
        _ application: UInt32? = nil,
        _ key: (number: UInt8, key: DESFireSecret)? = nil
    ) async throws(TagError) -> DESFireSession {
        guard let card = try ndef as? Type4Tag, try await card.readVersion()?.isDESFire == true
        else { throw TagError(.unsupported, "This tag is not a MIFARE DESFire EV1 or later.") }
        card.selectionWasChanged()
        var session = DESFireSession(card.link)
        try await session.select(application ?? 0)
        if let key { try await session.authenticate(key.number, key.key) }
        return session
    }

    /// Reads what a DESFire shows without a key, and what it does not show, in words.
    func desfireContents(_ version: DESFireVersion) async throws(TagError) -> (DESFireContents, [String]) {
        var session = try await desfire()
        let found = try await DESFireInspection(of: self, &session)
        var contents = DESFireContents(uid: version.uid)
        contents.version = version.bytes
        contents.configuration.usesRandomUID = target.identifier.count == 4
        // What a card does not show is restricted.
        contents.keySettings = found.keys?.settings ?? 0x09
        if let keys = found.keys {
            contents.masterKey = .zero(.init(code: keys.kind.rawValue) ?? .des, version: keys.versions.first ?? 0)
        }
        var unread = ["keys"]
        if contents.generation != .ev1 { unread.append("the signature") }
        if found.applications == nil { unread.append("applications") }
        var room = 0x1_0000
        for application in found.applications ?? [] {
            let name = "application \(DESFireInspection.name(application.identifier))"
            try await session.select(application.identifier)
            var files: [DESFireFile] = []
            for (number, settings) in application.files ?? [] {
                guard let settings else {
                    unread.append("\(name) file \(number)")
                    continue
                }
                room -= settings.byteCount
                guard room >= 0 else { throw TagError(.badAnswer, "The card claims files of more than 64 kilobytes.") }
                let data = try await DESFireInspection.shown { () throws(TagError) in
                    try await session.read(number, settings)
                }
                if data == nil { unread.append("\(name) file \(number)") }
                files.append(DESFireFile(number, settings, data))
            }
            if application.files == nil { unread.append(name) }
            let keys = application.keys ?? .init(settings: 0x09, kind: .des, versions: [0])
            let copy = DESFireApplication(
                identifier: application.identifier,
                keySettings: keys.settings,
                keyCount: keys.kind.rawValue | UInt8(keys.versions.count),
                keyVersions: keys.versions,
                files: files
            )
            contents.applications.append(copy.namedForNDEF)
        }
        if contents.applications.contains(where: { $0.name == nil }) { unread.append("ISO names") }
        if let free = found.freeMemory { contents.freeMemory = free }
        return (contents, unread)
    }
}

extension DESFireFile {
    /// - Parameter data: the content as `DESFireSession` reads it; nil if it needs a key.
    fileprivate init(_ number: UInt8, _ settings: DESFireFileSettings, _ data: [UInt8]?) {
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        let kind: Kind =
            switch settings.kind {
            case .standard(let size): .standard(data ?? zeros(size))
            case .backup(let size): .backup(data ?? zeros(size))
            case .value(let lower, let upper, let limitedCredit):
                .value(
                    lower: lower,
                    upper: upper,
                    current: data.map { Int32(truncatingIfNeeded: $0.littleEndian(at: 0, count: 4)) } ?? 0,
                    limitedCredit: limitedCredit
                )
            case .linear(let size, let maximum, let count):
                .linearRecords(size: size, maximum: maximum, records: data ?? zeros(size * min(count, maximum)))
            case .cyclic(let size, let maximum, let count):
                .cyclicRecords(size: size, maximum: maximum, records: data ?? zeros(size * min(count, maximum)))
            }
        self.init(
            number: number,
            communication: CommunicationSettings(rawValue: settings.protection.rawValue),
            accessRights: FileAccessRights(rawValue: settings.rights),
            kind: kind
        )
        isUnread = data == nil && settings.byteCount > 0
    }
}
