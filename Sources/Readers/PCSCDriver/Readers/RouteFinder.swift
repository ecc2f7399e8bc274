// SPDX-License-Identifier: Apache-2.0
import TagLink

/// Finds the best route for frames to the tag in a reader, by trying the routes.
struct RouteFinder {
    let connection: CardConnection
    var findings: ReaderFindings

    /// Finds the best route for frames, and begins it.
    ///
    /// - Parameter kind: the kind of the tag.
    /// - Throws: `LinkError` with `tagRemoved` or `readerUnavailable`, and errors after which to poll again.
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
        // The chip does not support ISO/IEC 15693.
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

    /// Whether a route can begin. If the tag left meanwhile, the result is not known.
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

    /// Checks that the tag is still present, after a question that the reader did not answer.
    private func makeSure() throws(LinkError) {
        guard findings.chip == .some(nil) else { return }
        _ = try TagIdentification.identifier(connection)
    }
}
