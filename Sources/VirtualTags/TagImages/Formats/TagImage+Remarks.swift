// SPDX-License-Identifier: Apache-2.0
import VirtualTags

extension TagImage {
    /// What the file contains and the virtual tag does not show, ordered by kind: contradictions first.
    public var remarks: [TagImageRemark] {
        var remarks = contents.contradictions.map { TagImageRemark(.contradiction, $0) }
        remarks += contents.missingParts.map { TagImageRemark(.missing, $0) }
        let read = source?.remarks ?? []
        remarks += read.filter { $0.kind != .leftOut }
        let leftOut = source?.leftOut ?? []
        if !leftOut.isEmpty {
            let text = "A virtual tag has no place for \(Self.list(leftOut)): a file of another format is without it."
            remarks.append(TagImageRemark(.leftOut, text))
        }
        return remarks.filter { $0.kind == .contradiction } + remarks.filter { $0.kind != .contradiction }
    }
}
