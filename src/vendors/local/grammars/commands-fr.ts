// What `local/commands-fr` listens for. A word outside it is never heard: add it here, with a sample in test/fixtures/audio.

/** JSGF: one command, number, time, date or answer a turn. */
export const COMMANDS_FR = `#JSGF V1.0 UTF-8 fr;
grammar commands_fr;

public <tour> = <réponse> | <nombre> | <moment> | <date> | <question> | <action> [s'il vous plaît | s'il te plaît];

<action> = <maison> | <médias> | <minuteur> | <appel> | <aller> | <écran>;

<réponse> = oui | non | non merci | d'accord | merci | merci beaucoup | bonjour | bonsoir | bonne nuit | au revoir | aide | annule
  | arrête | commence | continue | répète | encore | jamais | peut être | c'est (juste | faux) | attends | stop | pardon;

<nombre> = (zéro | <cent> | <centaines> | <milliers>) [pour cent | degrés | euros];
<unité> = deux | trois | quatre | cinq | six | sept | huit | neuf;
<dix> = dix | onze | douze | treize | quatorze | quinze | seize | dix sept | dix huit | dix neuf;
<vingt> = (vingt | trente | quarante | cinquante | soixante) [et un | <unité>]
  | soixante (et onze | <dix>) | quatre vingt [un | <unité> | <dix>];
<beaucoup> = <unité> | <dix> | <vingt>;
<cent> = un | <beaucoup>;
<centaines> = [<unité>] cent [<cent>];
<milliers> = [<beaucoup> | <centaines>] mille [<cent> | <centaines>];

<moment> = [à] <heure> | midi | minuit;
<heure> = une heure [<minutes>] | (<unité> | dix | onze | douze) heures [<minutes>] [du matin | de l'après midi | du soir];
<minutes> = cinq | dix | et quart | vingt | vingt cinq | et demie | trente | quarante cinq | moins (le quart | dix | vingt);

<date> = <jour> | [<jour>] le (premier | <beaucoup>) <mois> | aujourd'hui | demain | hier | après demain
  | (cette semaine | ce week-end | la semaine prochaine | le mois prochain | <jour> prochain)
  | dans (une (minute | heure | semaine) | <beaucoup> (minutes | heures | jours | semaines | mois));
<jour> = lundi | mardi | mercredi | jeudi | vendredi | samedi | dimanche;
<mois> = janvier | février | mars | avril | mai | juin | juillet | août | septembre | octobre | novembre | décembre;

<maison> = (allume | éteins) <appareil> | (ouvre | ferme) <ouverture> | (verrouille | déverrouille) la porte
  | (monte | baisse) (le chauffage | la température | le volume) | mets (la température | le chauffage) à <beaucoup> degrés;
<appareil> = (la lumière | les lumières) [<pièce>] | la (lampe | télévision | radio | musique) | le (ventilateur | chauffage)
  | la machine à café | l'alarme;
<pièce> = de la (cuisine | chambre) | du (salon | bureau | garage | jardin);
<ouverture> = la porte [du garage | du jardin] | la fenêtre | les volets | les rideaux | le portail;

<médias> = (joue | arrête | mets) de la musique | (arrête | mets) (la musique | la vidéo | la radio) | pause | lecture
  | (chanson | piste) (suivante | précédente) | plus fort | moins fort | silence | mets le volume à <beaucoup> pour cent;

<minuteur> = mets un minuteur de <durée> | (arrête | annule) (le minuteur | l'alarme | le réveil)
  | (mets une alarme à | réveille moi à) <heure> | rappelle moi (dans <durée> | demain | ce soir);
<durée> = une (seconde | minute | heure) | <beaucoup> (secondes | minutes | heures) | une demi heure;

<appel> = (appelle | envoie un message à) <personne> | (réponds | raccroche) | lis mes messages;
<personne> = maman | papa | la maison | le bureau | le médecin | ma (femme | soeur | mère) | mon (mari | frère | père) | marie
  | jean | pierre | paul | anne | sophie;

<aller> = (tourne | va) à (gauche | droite) | va tout droit | demi tour | avance [de <beaucoup> mètres] | recule
  | va (en haut | en bas | à la maison) | où suis je | trouve (un restaurant | un hôtel | une pharmacie | une station);

<écran> = (ouvre | montre moi) (les réglages | le menu | le calendrier | les messages | la carte | les photos)
  | page (suivante | précédente) | retour | prends une photo | déconnexion;

<question> = quelle heure est il | quel jour sommes nous | quel temps fait il [aujourd'hui | demain] | comment vas tu
  | est ce qu'il va pleuvoir [demain] | qui est là;
`;
