// SPDX-License-Identifier: Apache-2.0
import TagLink
package import VirtualTags

/// A reader that finds tags itself, and derives ATQA and SAK from the kind of tag.
package final class ConcludingReader: ForwardingReader {
    package let base: ActivatingReader
    package let name = "concluding"
    package let reportsActivationData = false

    package init(_ field: VirtualField) { base = ActivatingReader(field) }
}
