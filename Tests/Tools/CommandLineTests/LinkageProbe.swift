// SPDX-License-Identifier: Apache-2.0
// A program that uses every layer below CoreNFC and nothing else. A test checks the linked libraries: Foundation must not
// be among them.
import NDEF
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

let field = VirtualField()
let environment = NFCEnvironment(reader: .field(field))
let message = try NDEFMessage([.uri("https://example.com")]).encoded()
if let link = field.link(for: .nfcA) {
    let targets = try await NFCAActivation(link: link).activateAll()
    print("\(message.count) bytes, \(targets.count) tags, \(environment.limits.session)")
}
