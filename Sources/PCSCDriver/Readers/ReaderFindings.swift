// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What has been found out about a reader while tags were in it. It does not change until the reader is unplugged.
struct ReaderFindings: Sendable, Hashable {
    /// The PN53x inside; the inner nil is a reader without one, or without a way to it.
    var chip: String??
    /// The instruction of transparent sessions; the inner nil is a reader without them.
    var transparent: [Technology: UInt8?] = [:]
    /// Whether requests of ISO/IEC 15693 go through Traverse.
    var traverse: Bool?
}

/// Finds the best way for frames to the tag in a reader, by trying.
struct RouteFinder {
    let connection: CardConnection
    var findings: ReaderFindings

    /// The best way for frames, begun.
    ///
    /// - Parameter kind: what the tag is.
    /// - Throws: ``LinkError`` with `tagRemoved` or `readerUnavailable`, and what leads to another look.
    mutating func route(
        for kind: AnswerToReset.StorageCard.Kind,
        identifier: [UInt8]
    ) throws(LinkError) -> (any FrameRoute)? {
        let technology: Technology
        var isType1 = false
        switch kind {
        case .nfcA: technology = .nfcA
        case .type1:
            technology = .nfcA
            isType1 = true
        case .nfcF: technology = .nfcF
        case .nfcV: technology = .nfcV
        case .other: return nil
        }
        // The chip does not speak ISO/IEC 15693.
        if technology != .nfcV, try hasChip() {
            let route = PN53xRoute(technology: technology, isType1: isType1)
            try route.begin(connection)
            return route
        }
        guard !isType1 else { return nil }
        if let route = try transparentRoute(technology) { return route }
        switch technology {
        case .nfcV:
            if try hasTraverse() { return TraverseRoute() }
            return Type5StorageRoute(uid: TagIdentification.vicinityIdentifier(identifier) ?? identifier)
        case .nfcF: return Type3StorageRoute(idm: identifier)
        default: return Type2StorageRoute()
        }
    }

    private mutating func hasChip() throws(LinkError) -> Bool {
        if let chip = findings.chip { return chip != nil }
        let chip = PN53xRoute.firmware(connection)
        findings.chip = .some(chip)
        try makeSure()
        return chip != nil
    }

    private mutating func transparentRoute(_ technology: Technology) throws(LinkError) -> TransparentRoute? {
        if let known = findings.transparent[technology] {
            guard let instruction = known else { return nil }
            let route = TransparentRoute(instruction: instruction, technology: technology)
            try route.begin(connection)
            return route
        }
        for instruction in TransparentRoute.instructions {
            let route = TransparentRoute(instruction: instruction, technology: technology)
            if try tries(route) {
                findings.transparent[technology] = .some(instruction)
                return route
            }
        }
        findings.transparent[technology] = .some(nil)
        return nil
    }

    private mutating func hasTraverse() throws(LinkError) -> Bool {
        if let traverse = findings.traverse { return traverse }
        let works = try tries(TraverseRoute())
        findings.traverse = works
        return works
    }

    /// Whether a way can be begun. A tag that left meanwhile proves nothing.
    private func tries(_ route: some FrameRoute) throws(LinkError) -> Bool {
        do throws(LinkError) {
            try route.begin(connection)
            return true
        } catch {
            switch error.code {
            case .tagRemoved, .readerUnavailable, .cancelled: throw error
            default: return false
            }
        }
    }

    /// Makes sure that the tag is still there after a question to which the reader did not answer.
    private func makeSure() throws(LinkError) {
        guard findings.chip == .some(nil) else { return }
        _ = try TagIdentification.identifier(connection)
    }
}
