// SPDX-License-Identifier: Apache-2.0

/// An event that has no sequence number yet.
package struct FleetEvent: Sendable, Hashable {
    /// The kind of event.
    package var kind: EventKind
    /// When the event happened, in milliseconds since 1970.
    package var time: Int64
    /// The tag's UID or its hash; nil for an event without a tag.
    package var subject: String?
    /// The members of `data` that follow node, reader, stream and sequence.
    package var members: [JSONValue.Member]

    package init(_ kind: EventKind, time: Int64, subject: String? = nil, members: [JSONValue.Member] = []) {
        self.kind = kind
        self.time = time
        self.subject = subject
        self.members = members
    }

    /// Creates an event, omitting members whose value is nil.
    package init(_ kind: EventKind, time: Int64, subject: String? = nil, _ members: KeyValuePairs<String, JSONValue?>) {
        self.init(
            kind,
            time: time,
            subject: subject,
            members: members.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
        )
    }
}
