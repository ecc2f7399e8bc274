// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// The data read from a tag.
package struct TagReport: Sendable {
    /// The UID, PUPI or IDm.
    package var identifier: [UInt8]
    package var technology: Technology
    /// The NFC Forum tag type; nil for unsupported tags.
    package var type: ForumTagType?
    /// The product name; nil if the tag can't be identified.
    package var product: String?
    /// The NDEF status and content.
    package var ndefStatus: NDEFStatusReport

    package init(
        identifier: [UInt8],
        technology: Technology,
        type: ForumTagType? = nil,
        product: String? = nil,
        ndefStatus: NDEFStatusReport = NDEFStatusReport()
    ) {
        self.identifier = identifier
        self.technology = technology
        self.type = type
        self.product = product
        self.ndefStatus = ndefStatus
    }

    /// The members of a `tag` event that follow the tag's identifiers.
    package var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("technology", .string(technology.name))]
        if let type { members.append(.init("tag_type", .integer(type.rawValue))) }
        if let product { members.append(.init("product", .string(product))) }
        if let detection = ndefStatus.detection {
            members.append(.init("status", detection.access == .readWrite ? "read-write" : "read-only"))
            members.append(.init("capacity", .integer(detection.capacity)))
        } else {
            members.append(.init("status", "not-ndef"))
        }
        if let error = ndefStatus.error { members.append(.init("error", .string(error.code.description))) }
        if let message = ndefStatus.message, !message.isEmpty {
            members.append(.init("message", MessageJSON.value(message)))
        }
        return members
    }
}
