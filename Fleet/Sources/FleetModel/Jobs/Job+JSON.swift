// SPDX-License-Identifier: Apache-2.0

extension Job {
    /// Parses a job.
    ///
    /// - Parameter value: the JSON object.
    /// - Throws: ``JobRefusal`` with `badJob`, including the job's ID if it could be read.
    package init(_ value: JSONValue) throws(JobRefusal) {
        guard let id = value["id"]?.text, FleetName(id) != nil else {
            throw JobRefusal(.badJob, "A job needs an id of 1 to 64 letters, digits, - and _.")
        }
        func refuse(_ reason: String) -> JobRefusal { JobRefusal(.badJob, reason, job: id) }
        guard let node = value["node"]?.text.flatMap(FleetName.init) else {
            throw refuse("A job needs the name of a node.")
        }
        guard let deadline = value["deadline"]?.text.flatMap(Timestamp.milliseconds) else {
            throw refuse("A job needs a deadline in UTC, such as 2026-11-24T06:00:00Z.")
        }
        var reader: FleetName?
        if let text = value["reader"] {
            guard let name = text.text.flatMap(FleetName.init) else { throw refuse("The reader's name is not valid.") }
            reader = name
        }
        var uid: [UInt8]?
        if let text = value["uid"] {
            guard let bytes = text.text.flatMap(Hex.bytes), (1...10).contains(bytes.count) else {
                throw refuse("The UID must be 1 to 10 bytes in hexadecimal digits.")
            }
            uid = bytes
        }
        let commonMembers: Set<String> = ["id", "node", "deadline", "reader", "uid", "kind"]
        let members = value.objectMembers ?? []
        let work: Work
        let ownMembers: Set<String>
        do throws(JobRefusal) {
            (work, ownMembers) = try Self.work(value)
        } catch {
            throw refuse(error.reason)
        }
        for member in members where !commonMembers.contains(member.name) && !ownMembers.contains(member.name) {
            throw refuse("A job of this kind does not support the member \(member.name).")
        }
        self.init(id: id, node: node, deadline: deadline, reader: reader, uid: uid, work: work)
    }

    private static func work(_ value: JSONValue) throws(JobRefusal) -> (Work, Set<String>) {
        switch value["kind"]?.text {
        case "write":
            guard let locks = (value["lock"] ?? false).bool else {
                throw JobRefusal(.badJob, "The member lock must be true or false.")
            }
            return (.write(try template(value["message"]), locks: locks), ["message", "lock"])
        case "protect": return (.protect(try secret(value)), ["password_hex", "pack_hex", "secret"])
        case "lock": return (.lock, [])
        case "indicate":
            guard let signal = value["signal"]?.text.flatMap(Signal.init) else {
                throw JobRefusal(.badJob, "The signal must be allowed, refused or attention.")
            }
            return (.indicate(signal), ["signal"])
        case "allow": return (.allow(try allowChange(value)), ["mode", "uids"])
        case "cancel":
            guard let job = value["job"]?.text, FleetName(job) != nil else {
                throw JobRefusal(.badJob, "The id of the job to cancel is missing.")
            }
            return (.cancel(job: job), ["job"])
        default: throw JobRefusal(.badJob, "The kind must be write, protect, lock, indicate, allow or cancel.")
        }
    }

    private static func template(_ value: JSONValue?) throws(JobRefusal) -> MessageTemplate {
        let members = value?.objectMembers ?? []
        let names = Set(members.map(\.name))
        if names == ["link"], let link = value?["link"]?.text, !link.isEmpty { return .link(link) }
        if names == ["text"] || names == ["text", "language"], let text = value?["text"]?.text {
            guard let language = (value?["language"] ?? "en").text, (1...63).contains(language.utf8.count) else {
                throw JobRefusal(.badJob, "The language must be a code such as en.")
            }
            return .text(text, language: language)
        }
        if names == ["hex"], let bytes = value?["hex"]?.text.flatMap(Hex.bytes) { return .bytes(bytes) }
        throw JobRefusal(.badJob, "The message must be exactly one of link, text (with language) and hex.")
    }

    private static func secret(_ value: JSONValue) throws(JobRefusal) -> TagSecret {
        if let secret = value["secret"] {
            guard value["password_hex"] == nil, value["pack_hex"] == nil else {
                throw JobRefusal(.badJob, "A job contains either a password or the name of a secret, not both.")
            }
            guard let name = secret.text.flatMap(FleetName.init) else {
                throw JobRefusal(.badJob, "The secret's name is not valid.")
            }
            return .named(name)
        }
        guard let password = value["password_hex"]?.text.flatMap(Hex.bytes), password.count == 4,
            let acknowledgement = (value["pack_hex"] ?? "0000").text.flatMap(Hex.bytes), acknowledgement.count == 2
        else {
            throw JobRefusal(
                .badJob,
                "The password must be 4 bytes and the acknowledgement 2, in hexadecimal digits."
            )
        }
        return .bytes(password: password, acknowledgement: acknowledgement)
    }

    private static func allowChange(_ value: JSONValue) throws(JobRefusal) -> AllowChange {
        guard let mode = (value["mode"] ?? "replace").text.flatMap(AllowChange.Mode.init) else {
            throw JobRefusal(.badJob, "The mode must be replace, add, remove or off.")
        }
        guard mode != .off else {
            guard value["uids"] == nil else {
                throw JobRefusal(.badJob, "The mode off removes the list, so it can't have uids.")
            }
            return AllowChange(.off)
        }
        let elements = value["uids"]?.elements
        let uids = (elements ?? []).compactMap { $0.text.flatMap(Hex.bytes) }.filter { (1...10).contains($0.count) }
        guard uids.count == elements?.count, uids.count <= maximumUIDs else {
            throw JobRefusal(
                .badJob,
                "The uids must be a list of at most \(maximumUIDs) UIDs in hexadecimal digits."
            )
        }
        return AllowChange(mode, uids: uids)
    }

    /// The job's JSON.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(id)), .init("node", .string(node.text)), .init("kind", .string(work.name)),
            .init("deadline", .string(Timestamp.text(deadline))),
        ]
        if let reader { members.append(.init("reader", .string(reader.text))) }
        if let uid { members.append(.init("uid", .string(Hex.text(uid)))) }
        switch work {
        case .lock: break
        case .write(let template, let locks):
            members.append(.init("message", template.json))
            if locks { members.append(.init("lock", true)) }
        case .protect(.named(let name)): members.append(.init("secret", .string(name.text)))
        case .protect(.bytes(let password, let acknowledgement)):
            members.append(.init("password_hex", .string(Hex.text(password))))
            members.append(.init("pack_hex", .string(Hex.text(acknowledgement))))
        case .indicate(let signal): members.append(.init("signal", .string(signal.rawValue)))
        case .allow(let change):
            members.append(.init("mode", .string(change.mode.rawValue)))
            if change.mode != .off { members.append(.init("uids", .array(change.uids.map { .string(Hex.text($0)) }))) }
        case .cancel(let job): members.append(.init("job", .string(job)))
        }
        return .object(members)
    }
}

extension MessageTemplate {
    fileprivate var json: JSONValue {
        switch self {
        case .link(let link): ["link": .string(link)]
        case .text(let text, let language): ["text": .string(text), "language": .string(language)]
        case .bytes(let bytes): ["hex": .string(Hex.text(bytes))]
        }
    }
}
