// SPDX-License-Identifier: Apache-2.0

/// A card with commands that change the activation data of its tag. The tag reads them at power-up.
package protocol SelfPresentingCard: Card {
    var presentation: CardPresentation { get }
}
