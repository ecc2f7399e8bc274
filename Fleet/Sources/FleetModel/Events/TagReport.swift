// SPDX-License-Identifier: Apache-2.0
package import TagLink
package import TagProtocols

/// What was read from a tag.
package struct TagReport: Sendable {
    /// UID, PUPI or IDm.
    package var identifier: [UInt8]
    /// The technology.
    package var technology: Technology
    /// The type of the NFC Forum; nil when there are no procedures for the tag's kind.
    package var type: ForumTagType?
    /// The product, as far as the tag says.
    package var product: String?
    /// Its NDEF content.
    package var survey: NDEFStatusReport

    package init(
        identifier: [UInt8],
        technology: Technology,
        type: ForumTagType? = nil,
        product: String? = nil,
        survey: NDEFStatusReport = NDEFStatusReport()
    ) {
        self.identifier = identifier
        self.technology = technology
        self.type = type
        self.product = product
        self.survey = survey
    }

    /// The members of a `tag` event, after those that identify the tag.
    package var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("technology", .string(technology.name))]
        if let type { members.append(.init("tag_type", .integer(type.rawValue))) }
        if let product { members.append(.init("product", .string(product))) }
        if let detection = survey.detection {
            members.append(.init("status", detection.access == .readWrite ? "read-write" : "read-only"))
            members.append(.init("capacity", .integer(detection.capacity)))
        } else {
            members.append(.init("status", "not-ndef"))
        }
        if let error = survey.error { members.append(.init("error", .string(error.code.description))) }
        if let message = survey.message, !message.isEmpty {
            members.append(.init("message", MessageJSON.value(message)))
        }
        return members
    }
}
